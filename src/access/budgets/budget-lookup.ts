import { type GatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { Tags } from "../../prices/tags.js";
import { type CheckedBudget, checkBudgets } from "../../records/budgets/budget-schema.js";
import type { BudgetStore } from "../../records/budgets/budget-store.js";
import { cachedLookup } from "../cached-lookup.js";
import type { CurrentCatalog } from "../catalog.js";
import { checkRecord, readWithin, type StoreLookupOptions } from "../store-lookup.js";
import { warnOfTooLarge } from "../warn-of-too-large.js";
import { warnOfUnmatched } from "../warn-of-unmatched.js";
import { Generations } from "./generations.js";
import { KnownBudgets } from "./known-budgets.js";

export interface BudgetLookupOptions extends StoreLookupOptions {
  /** Gets what is wrong with a budget that can be used all the same, once for each message. */
  warnOnce: Warn;
}

/** Budgets by account and tags, through the cache. */
export interface BudgetLookup {
  /** Whether there is a store. Without one, no account has budgets of its own. */
  readonly hasStore: boolean;
  /** Rejects with a 503 when the store fails. */
  find(account: string, tags: Tags): KnownBudgets | Promise<KnownBudgets>;
  /** Removes all of the account from the cache. A lookup in progress is not cached either. */
  forget(account: string): void;
}

export function budgetLookup(
  store: BudgetStore | undefined,
  catalog: CurrentCatalog,
  { timeLimit, warn, warnOnce, ...cache }: BudgetLookupOptions,
): BudgetLookup {
  const fail = (problem: string, cause: unknown): GatewayError => {
    const message = `The budget store ${problem}. Callers with tags get a 503 until it is fixed.`;
    warn({ code: "budget_store_failed", message, cause });
    return serviceUnavailable("Budgets cannot be checked at the moment. Try again shortly.", cause);
  };
  const read = async (account: string, tags: Tags): Promise<readonly CheckedBudget[]> => {
    if (store === undefined) return [];
    const found = await readWithin(() => store.find(account, tags), timeLimit, fail);
    const budgets = checkRecord(() => checkBudgets(found), fail);
    for (const { tag, credits } of budgets) {
      warnOfTooLarge(`A budget of ${tag} of the account ${JSON.stringify(account)}`, credits, warnOnce);
    }
    warnOfUnmatched({ account, budgets }, catalog.current, warnOnce);
    return budgets;
  };
  const generations = new Generations();
  /** The text of tags, once for all calls of a caller. */
  const texts = new WeakMap<Tags, string>();
  /** Where budgets are in the cache: a list as JSON. */
  const toPlace = (generation: number, account: string, tags: Tags): string => {
    let text = texts.get(tags);
    if (text === undefined) {
      text = JSON.stringify(tags);
      texts.set(tags, text);
    }
    return `[${generation},${JSON.stringify(account)},${text}]`;
  };
  const lookup = cachedLookup<KnownBudgets>(async (place) => {
    const { account, tags } = fromPlace(place);
    return new KnownBudgets(tags, await read(account, tags));
  }, cache);
  return {
    hasStore: store !== undefined,
    // What is loaded is never absent.
    find: (account, tags) =>
      lookup(toPlace(generations.of(account), account, tags)) as KnownBudgets | Promise<KnownBudgets>,
    forget: (account) => generations.next(account),
  };
}

function fromPlace(place: string): { account: string; tags: Tags } {
  const [, account, tags] = JSON.parse(place) as [number, string, Tags];
  return { account, tags };
}
