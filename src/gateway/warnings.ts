import type { CurrentCatalog } from "../access/catalog.js";
import { ModelPatterns } from "../access/model-patterns.js";
import { warnOfUnmatched } from "../access/warn-of-unmatched.js";
import type { Warn } from "../events/warning.js";
import type { TimeLimit } from "../ledger/guard/time-limit.js";
import type { AccountChange } from "../records/accounts/account-store.js";
import type { Budget } from "../records/budgets/budget-store.js";
import type { PlanStore } from "../records/plans/plan-store.js";
import type { FollowedModels } from "./models/model-feed.js";

/** Warns of keys and accounts whose plan does not exist. Never rejects: the plan may be made later, and its store may be away. */
export type WarnOfUnknownPlan = (by: string, plan: string) => Promise<void>;

const mostNamed = 20;

export function unknownPlanWarning(plans: PlanStore, limit: TimeLimit, warn: Warn): WarnOfUnknownPlan {
  return async (by, plan) => {
    try {
      // Not through the cache, which would remember that there is no plan.
      const found = await limit.race(Promise.resolve(plans.find(plan)));
      if (found !== undefined && found !== null) return;
      const message = `${by}: there is no plan ${JSON.stringify(plan)}, so its callers see no model until it is made.`;
      warn({ code: "unknown_plan", message: message + thoseThereAre(plans) });
    } catch {
      // The store failed, so nothing is known of the plan.
    }
  };
}

function thoseThereAre(plans: PlanStore): string {
  const ids = [...(plans.list?.() ?? [])].map(({ id }) => JSON.stringify(id));
  if (ids.length === 0) return "";
  const others = ids.length > mostNamed ? `, and ${ids.length - mostNamed} others` : "";
  return ` There are: ${ids.slice(0, mostNamed).join(", ")}${others}.`;
}

interface Written extends Pick<AccountChange, "plan" | "models"> {
  readonly id: string;
  readonly budgets?: readonly Budget[] | undefined;
}

/** Warns of what was written of an account or of its budgets, but may be misspelled. Never rejects. */
export type WarnOfRecord = (by: string, written: Written) => Promise<void>;

interface WarningServices {
  readonly catalog: CurrentCatalog;
  /** `undefined`: no store has models. */
  readonly feed: Pick<FollowedModels, "ready"> | undefined;
  readonly warn: Warn;
}

export function recordWarning(
  warnOfUnknownPlan: WarnOfUnknownPlan,
  { catalog, feed, warn }: WarningServices,
): WarnOfRecord {
  return async (by, { id, plan, models, budgets }) => {
    if (plan !== undefined) await warnOfUnknownPlan(by, plan);
    if (!models && budgets === undefined) return;
    try {
      await feed?.ready();
    } catch {
      // Nothing is known of the models of the store.
      return;
    }
    const patterns = models ? new ModelPatterns(models) : undefined;
    warnOfUnmatched({ account: id, models: patterns, budgets }, catalog.current, warn);
  };
}

/** Clients choose them: of more, the host is not told. */
const mostWarned = 100;

/** Warns the host of each unknown beta once, however many requests have it. */
export function warnOfBetas(warn: Warn): (beta: string) => void {
  const warned = new Set<string>();
  return (beta) => {
    if (warned.size >= mostWarned || warned.has(beta)) return;
    warned.add(beta);
    const message =
      `A client sent the unknown value "${beta.slice(0, 200)}" of the header anthropic-beta. It was left out. Name it in the ` +
      "model's allowMembers to have it sent.";
    warn({ code: "unknown_beta", message });
  };
}
