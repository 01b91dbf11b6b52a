import { countableLimit } from "../check/limit-schemas.js";
import { type GatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import type { GatewayWarning, Warn } from "../events/warning.js";
import type { WindowName } from "../ledger/credit-ledger.js";
import { type Micro, toMicro } from "../prices/micro.js";
import type { CheckedBudget } from "../records/budgets/budget-schema.js";
import { type Plan, type PlanStore, type ResolvedDrainLimits, toDrainLimits } from "../records/plans/plan-store.js";
import { checkPlan } from "../records/plans/record-plan-store.js";
import { type CachedLookup, cachedLookup } from "./cached-lookup.js";
import type { CurrentCatalog } from "./catalog.js";
import { ModelPatterns } from "./model-patterns.js";
import { RateRules } from "./rate-rules.js";
import { checkRecord, readWithin, type StoreLookupOptions } from "./store-lookup.js";
import { warnOfTooLarge } from "./warn-of-too-large.js";
import { warnOfUnmatched } from "./warn-of-unmatched.js";

/** A plan, checked: a request needs no more of it. */
export interface Allowance {
  readonly plan: string;
  /** The models that the plan includes. */
  readonly models: ModelPatterns;
  readonly credits: Readonly<Record<WindowName, Micro | null>>;
  readonly sessionMs: number;
  /** The output cap of requests that name none; `undefined`: the model alone bounds them. */
  readonly defaultOutputTokens: number | undefined;
  /** How much of a response to keep reading after its client left; `undefined`: the model decides. */
  readonly drain: ResolvedDrainLimits | "cancel" | undefined;
  /** Of each account of the plan. */
  readonly rates: RateRules | undefined;
  /** What prices are multiplied by, unless the account says it; `undefined`: 1. */
  readonly priceFactor: number | undefined;
  /** What prices are multiplied by for calls with an account's own key, unless the target says it. */
  readonly ownKeyPriceFactor: number;
  /** Of each account of the plan that has none of its own for the tag; `undefined`: none. */
  readonly budgets: readonly CheckedBudget[] | undefined;
}

export const defaultSessionMs = 5 * 60 * 60 * 1000;

export interface AllowanceLookupOptions extends StoreLookupOptions {
  /** Gets what is wrong with a plan, once for each message. */
  warnOnce: Warn;
}

/** Plans by id, through the cache. Rejects with a 503 when the store fails. */
export function allowanceLookup(
  store: PlanStore,
  catalog: CurrentCatalog,
  { timeLimit, warn, warnOnce, ...cache }: AllowanceLookupOptions,
): CachedLookup<Allowance> {
  return cachedLookup(async (id) => {
    const fail = (problem: string, cause: unknown): GatewayError => {
      const message = `The plan "${id}": the plan store ${problem}. The plan's callers get a 503 until it is fixed.`;
      warn({ code: "plan_store_failed", message, cause });
      return serviceUnavailable("Plans cannot be checked at the moment. Try again shortly.", cause);
    };
    const plan = await readWithin(() => store.find(id), timeLimit, fail);
    if (plan === undefined || plan === null) {
      warnOnce({
        code: "unknown_plan",
        message: `A key or an account has the plan "${id}", which does not exist: it sees no model. Make the plan, or give it another.`,
      });
      return undefined;
    }
    if (plan.credits === undefined && store.list === undefined) warnOnce(unlimitedPlan(id));
    const allowance = checkRecord(() => toAllowance(id, plan), fail);
    warnOfTooLarge(`The plan ${JSON.stringify(id)}`, plan.credits, warnOnce);
    for (const { tag, credits } of allowance.budgets ?? []) {
      warnOfTooLarge(`The budget of ${tag} in the plan ${JSON.stringify(id)}`, credits, warnOnce);
    }
    warnOfUnmatched(allowance, catalog.current, warnOnce);
    return allowance;
  }, cache);
}

/**
 * Checks a plan.
 * @throws TypeError | RangeError when the record is not valid.
 */
export function toAllowance(id: string, plan: Plan): Allowance {
  const { models, credits, ...rest } = checkPlan(plan);
  const limit = (amount: number | null | undefined) =>
    amount === undefined || amount === null ? null : toMicro(countableLimit(amount));
  return {
    plan: id,
    models: new ModelPatterns(models),
    credits: { session: limit(credits?.session), week: limit(credits?.week), month: limit(credits?.month) },
    sessionMs: rest.sessionMs ?? defaultSessionMs,
    defaultOutputTokens: rest.defaultOutputTokens ?? undefined,
    drain: rest.disconnect === undefined || rest.disconnect === null ? undefined : toDrainLimits(rest.disconnect),
    rates: RateRules.of({ owner: "plan", counters: "plan" }, rest.rates),
    priceFactor: rest.priceFactor ?? undefined,
    ownKeyPriceFactor: rest.ownKeyPriceFactor ?? 0,
    budgets: rest.budgets?.length ? rest.budgets : undefined,
  };
}

/** A plan store may name its column otherwise, and then no account would have a limit. */
function unlimitedPlan(id: string): GatewayWarning {
  return {
    code: "unlimited_plan",
    message: `The plan "${id}" has no member \`credits\`: its accounts are not limited. Answer with \`credits: null\` if that is meant.`,
  };
}
