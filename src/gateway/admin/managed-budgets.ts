import * as z from "zod";
import type { BudgetLookup } from "../../access/budgets/budget-lookup.js";
import type { TagBudget } from "../../access/budgets/tag-budget.js";
import { RateRules } from "../../access/rate-rules.js";
import { type AuditAuthor, authorShape } from "../../audit/checked-audit-trail.js";
import { checkInput, InputError, UnsupportedError } from "../../check/check-input.js";
import { Calendar, type Clock } from "../../ledger/calendar.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { mostRates, type RateState } from "../../ledger/limits.js";
import { budgetNameSchema, newBudgetSchema } from "../../records/budgets/budget-schema.js";
import type {
  Budget,
  BudgetName,
  BudgetPage,
  BudgetPageRequest,
  BudgetStore,
  KeptBudget,
  WritableBudgetStore,
} from "../../records/budgets/budget-store.js";
import { keyAccount } from "../../records/keys/check-key.js";
import type { WarnOfRecord } from "../warnings.js";
import { type AccountTerms, type AccountTermsLookup, termsShape } from "./account-terms.js";
import type { AuditedChange, Auditor } from "./audit.js";
import { type BudgetBalance, type RateBalance, toCapBalance } from "./balance.js";
import { fromLedger } from "./from-store.js";
import { requireLimitsKept, requireMethods } from "./method-checks.js";

/**
 * Creates, finds and deletes the budgets of accounts: what their calls with a tag may use, such as those of a member. They
 * take effect at once in this process, and in others as soon as the store sends notices (Redis, PostgreSQL), else within
 * `cacheTtlMs`. What is used stays used. Calls in progress go on.
 *
 * Every method rejects with a TypeError when an argument is not valid or the budget store is missing, and with a
 * GatewayError 503 when the store fails.
 */
export interface ManagedBudgets {
  /**
   * Creates the budget, or replaces the one of the same tag and value as a whole: what is not given is no limit any more,
   * and a suspension ends. A budget of a value takes the place of the one of each value, and any of the account that of the
   * plan: nothing of the two is put together.
   * @throws TypeError for limits that the ledger does not keep; UnknownAccountError where the gateway has an account store,
   * and the account has neither a record nor keys: a misspelled one would limit nothing.
   *
   * @example
   * ```ts
   * await gateway.budgets.put("acct_1", { tag: "member", value: "42", credits: { month: 50 } });
   * ```
   */
  put(account: string, budget: Budget, author?: AuditAuthor): Promise<void>;
  /** The account's own budget of exactly this name, as the store has it now; `undefined` when there is none. */
  get(account: string, name: BudgetName): Promise<KeptBudget | undefined>;
  /**
   * Deletes the budget. From then on the value has that of each value, or of the plan.
   * @returns whether there was one.
   */
  remove(account: string, name: BudgetName, author?: AuditAuthor): Promise<boolean>;
  /** The account's own budgets, page by page, in an order that does not change. */
  list(account: string, page?: BudgetPageRequest): Promise<BudgetPage>;
  /**
   * What limits the calls with this tag in this process, whichever budget it is, and what they have used of it now. A budget
   * that another process has changed is found as for calls: see {@link ManagedBudgets}. {@link get} asks the store.
   * @param terms - as of {@link ManagedAccounts.balance}.
   * @throws UnknownAccountError, UnknownPlanError or UnknownTermsError as {@link ManagedAccounts.balance};
   * LedgerUnavailableError when the ledger fails.
   */
  balance(account: string, name: { tag: string; value: string }, terms?: AccountTerms): Promise<BudgetBalance>;
}

const accountInput = z.strictObject({ account: keyAccount });
const authorInput = z.strictObject(authorShape);
const putInput = accountInput.extend({ budget: newBudgetSchema });
const nameInput = accountInput.extend({ name: budgetNameSchema });
const balanceInput = accountInput.extend({
  name: budgetNameSchema.extend({ value: budgetNameSchema.shape.value.unwrap().unwrap() }),
  terms: z.strictObject(termsShape),
});

interface BudgetParts {
  readonly budgets?: (BudgetStore & Partial<Omit<WritableBudgetStore, "find">>) | undefined;
  readonly ledger: CreditLedger;
}

interface BudgetServices {
  readonly budgets: BudgetLookup;
  readonly terms: AccountTermsLookup;
  readonly clock: Clock;
  readonly audit: Auditor;
  readonly warnOfRecord: WarnOfRecord;
}

export function managedBudgets(
  { budgets, ledger }: BudgetParts,
  { budgets: lookup, terms, clock, audit, warnOfRecord }: BudgetServices,
): ManagedBudgets {
  const store = <Method extends keyof WritableBudgetStore>(by: string, method: Method) => {
    if (budgets !== undefined) return requireMethods(by, "budget", budgets, [method]);
    throw new UnsupportedError(
      `${by}: the gateway has no budget store. Give createGateway \`budgets\`: the one of sqliteStores, redisStores or ` +
        "postgresStores, as in `budgets: stores.budgets`, or memoryBudgetStore().",
    );
  };
  const write = async <Result>(account: string, run: () => Promise<Result>): Promise<Result> => {
    try {
      return await run();
    } finally {
      // Also after a failure: the store may have changed the budget.
      lookup.forget(account);
    }
  };
  return {
    async put(account, budget, author = {}) {
      const by = "gateway.budgets.put";
      const whose = checkInput(by, authorInput, author);
      const given = checkInput(by, putInput, { account, budget });
      requireLimitsKept(by, ledger, "the budget", given.budget);
      requireFewRates(by, given.budget);
      await terms.requireAccount(by, given.account);
      const { put } = store(by, "put");
      await audit.keep(putEntry(given, whose), () => write(account, () => put(given.account, given.budget)));
      await warnOfRecord(by, { id: account, budgets: [given.budget] });
    },
    async get(account, name) {
      const by = "gateway.budgets.get";
      checkInput(by, nameInput, { account, name });
      return await store(by, "get").get(account, name);
    },
    async remove(account, name, author = {}) {
      const by = "gateway.budgets.remove";
      const whose = checkInput(by, authorInput, author);
      checkInput(by, nameInput, { account, name });
      const { remove } = store(by, "remove");
      const change = { action: "budgets.remove", account, budget: auditName(name), ...whose } as const;
      return await audit.keep(change, async (entry) => {
        const removed = await write(account, () => remove(account, name));
        entry.after = { removed };
        return removed;
      });
    },
    async list(account, page = {}) {
      const by = "gateway.budgets.list";
      checkInput(by, accountInput, { account });
      return await store(by, "list").list(account, page);
    },
    async balance(account, name, given = {}) {
      const by = "gateway.budgets.balance";
      const input = checkInput(by, balanceInput, { account, name, terms: given });
      const { tag, value } = input.name;
      const { plan, allowance, anchor, limits } = await terms.resolve(by, account, input.terms);
      const known = await lookup.find(account, { [tag]: value });
      const budget = known.under(allowance.budgets)?.each[0];
      const caps = budget?.caps?.limits(new Calendar(anchor ?? undefined), clock.now()) ?? [];
      const rules = (budget?.rates?.all ?? []).slice(0, mostRates);
      const rates = rules.map(({ id, kind, limit, burst }) => ({ id, kind, limit, burst, take: 0 }));
      const states = await fromLedger(by, () =>
        caps.length + rates.length === 0 ? undefined : ledger.balance(account, limits, { caps, rates }),
      );
      return {
        ...{ account, plan, tag, value, ...termsOf(budget) },
        caps: states?.caps?.map(toCapBalance) ?? [],
        rates: states?.rates?.map((state) => toRateBalance(state, rules)) ?? [],
      };
    },
  };
}

function putEntry({ account, budget }: { account: string; budget: Budget }, author: AuditAuthor): AuditedChange {
  const { tag: _tag, value: _value, ...given } = budget;
  return { action: "budgets.put", account, budget: auditName(budget), ...author, given };
}

/** What the audit trail calls a budget. No name of a tag has an equals sign. */
function auditName({ tag, value }: BudgetName): string {
  return value === undefined || value === null ? tag : `${tag}=${value}`;
}

/** @throws InputError for a budget of which a single call might be subject to more rates than a ledger takes. */
function requireFewRates(by: string, { tag, rates }: Budget): void {
  const count = RateRules.of({ owner: "budget", counters: "", tag }, rates)?.all.length ?? 0;
  if (count <= mostRates) return;
  throw new InputError(`${by}: rates: are ${count} limits, and ${mostRates} are the most. Use fewer patterns.`);
}

function termsOf(budget: TagBudget | undefined): Pick<BudgetBalance, "origin" | "status" | "message" | "models"> {
  const { origin = null, suspension, models } = budget ?? {};
  return {
    origin,
    status: suspension === undefined ? "active" : "suspended",
    ...(typeof suspension === "string" && { message: suspension }),
    models: models?.patterns ?? null,
  };
}

function toRateBalance(state: RateState, rules: NonNullable<TagBudget["rates"]>["all"]): RateBalance {
  const pattern = rules.find(({ id }) => id === state.id)?.pattern;
  return { ...state, ...(pattern !== undefined && { models: pattern }) };
}
