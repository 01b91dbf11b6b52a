import { type GatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import type { GatewayWarning, Warn } from "../events/warning.js";
import type { TimeLimit } from "../guard/time-limit.js";
import { checkKey } from "../keys/check-key.js";
import type { ApiKey, KeyStore } from "../keys/key-store.js";
import type { WindowName } from "../ledger/credit-ledger.js";
import { Calendar } from "../ledger/windows.js";
import type { Micro } from "../metering/micro.js";
import { toMicro } from "../metering/price.js";
import { type ResolvedDrainLimits, toDrainLimits } from "../plans/drain-limits.js";
import { checkPlan } from "../plans/plan-schema.js";
import type { Plan, PlanStore } from "../plans/plan-store.js";
import { type CachedLookup, type CachedLookupOptions, cachedLookup } from "./cached-lookup.js";
import { type Catalog, matchModels } from "./catalog.js";

/** An API key, made ready for the hot path. */
export interface Caller {
  readonly keyId: string;
  readonly account: string;
  readonly plan: string;
  /** Epoch milliseconds of the earlier of expiry and revocation; `Infinity` when neither is set. */
  readonly refusedFrom: number;
  /** Where the account's weeks and months begin and end. */
  readonly calendar: Calendar;
  /** The catalog's models that the key is restricted to; `undefined`: the plan alone decides. */
  readonly models: ReadonlySet<string> | undefined;
}

/** A plan, made ready for the hot path. */
export interface Allowance {
  readonly plan: string;
  /** The catalog's models that the plan includes. */
  readonly models: ReadonlySet<string>;
  readonly credits: Readonly<Record<WindowName, Micro | null>>;
  readonly sessionMs: number;
  readonly defaultOutputTokens: number;
  /** How much of a response to keep reading after its client left; `undefined`: the model decides. */
  readonly drain: ResolvedDrainLimits | "cancel" | undefined;
}

export const defaultSessionMs = 5 * 60 * 60 * 1000;
const defaultOutputTokens = 4096;

export interface StoreLookupOptions extends CachedLookupOptions {
  /** How long the store may take. */
  timeLimit: TimeLimit;
  warn: Warn;
}

export interface AllowanceLookupOptions extends StoreLookupOptions {
  /** Gets what is wrong with a plan, once for each message. */
  warnOnce: Warn;
}

/** Keys by hash, through the cache. Rejects with a 503 when the store fails. */
export function callerLookup(
  store: KeyStore,
  catalog: Catalog,
  { timeLimit, warn, ...cache }: StoreLookupOptions,
): CachedLookup<Caller> {
  const fail = (problem: string, cause: unknown): GatewayError => {
    warn({
      code: "key_store_failed",
      message: `The key store ${problem}. Callers get a 503 until it is fixed.`,
      cause,
    });
    return serviceUnavailable("API keys cannot be checked at the moment. Try again shortly.", cause);
  };
  return cachedLookup(async (hash) => {
    const key = await findWithin(() => store.find(hash), timeLimit, fail);
    if (key === undefined || key === null) return undefined;
    return check(() => toCaller(key, catalog), fail);
  }, cache);
}

/** Plans by id, through the cache. Rejects with a 503 when the store fails. */
export function allowanceLookup(
  store: PlanStore,
  catalog: Catalog,
  { timeLimit, warn, warnOnce, ...cache }: AllowanceLookupOptions,
): CachedLookup<Allowance> {
  return cachedLookup(async (id) => {
    const fail = (problem: string, cause: unknown): GatewayError => {
      const message = `The plan "${id}": the plan store ${problem}. The plan's callers get a 503 until it is fixed.`;
      warn({ code: "plan_store_failed", message, cause });
      return serviceUnavailable("Plans cannot be checked at the moment. Try again shortly.", cause);
    };
    const plan = await findWithin(() => store.find(id), timeLimit, fail);
    if (plan === undefined || plan === null) {
      warnOnce({
        code: "unknown_plan",
        message: `A key belongs to the plan "${id}", which does not exist: it sees no model. Make the plan, or give the key another.`,
      });
      return undefined;
    }
    if (plan.credits === undefined && store.list === undefined) warnOnce(unlimitedPlan(id));
    return check(() => toAllowance(id, plan, catalog, warnOnce), fail);
  }, cache);
}

type Fail = (problem: string, cause: unknown) => GatewayError;

/** An error of a store may hold its secrets: the warning has it as its cause alone. */
async function findWithin<Found>(find: () => Promise<Found> | Found, limit: TimeLimit, fail: Fail): Promise<Found> {
  try {
    const found = find();
    return isPromiseLike(found) ? await limit.race(found) : found;
  } catch (cause) {
    throw fail("failed", cause);
  }
}

function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

function check<Checked>(make: () => Checked, fail: Fail): Checked {
  try {
    return make();
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message.replace(/\s*\n\s*/g, " ") : String(cause);
    throw fail(`returned a record that is not valid: ${problem}`, cause);
  }
}

/**
 * Checks a plan and resolves it against the catalog.
 * @throws TypeError | RangeError when the record is not valid.
 */
export function toAllowance(id: string, plan: Plan, catalog: Catalog, warn: Warn): Allowance {
  const { models, credits, ...rest } = checkPlan(plan);
  for (const pattern of models) {
    if (matchModels(catalog, [pattern]).size > 0) continue;
    warn({
      code: "unmatched_plan_pattern",
      message: `The plan "${id}" names the model "${pattern}", which matches nothing in the catalog. Check its spelling.`,
    });
  }
  const limit = (amount: number | null | undefined) =>
    amount === undefined || amount === null ? null : toMicro(amount);
  return {
    plan: id,
    models: matchModels(catalog, models),
    credits: { session: limit(credits?.session), week: limit(credits?.week), month: limit(credits?.month) },
    sessionMs: rest.sessionMs ?? defaultSessionMs,
    defaultOutputTokens: rest.defaultOutputTokens ?? defaultOutputTokens,
    drain: rest.disconnect === undefined || rest.disconnect === null ? undefined : toDrainLimits(rest.disconnect),
  };
}

/** Passes each message on once: a wrong plan causes one warning, not one for each time that the cache reads it. */
export function once(warn: Warn): Warn {
  const warned = new Set<string>();
  return (warning) => {
    if (warned.has(warning.message) || warned.size >= mostWarned) return;
    warned.add(warning.message);
    warn(warning);
  };
}

const mostWarned = 1000;

/** A plan store may name its column otherwise, and then no account would have a limit. */
function unlimitedPlan(id: string): GatewayWarning {
  return {
    code: "unlimited_plan",
    message: `The plan "${id}" has no member \`credits\`: its accounts are not limited. Answer with \`credits: null\` if that is meant.`,
  };
}

function toCaller(record: ApiKey, catalog: Catalog): Caller {
  const { id, account, plan, expiresAt, revokedAt, models, anchor } = checkKey(record);
  return {
    keyId: id,
    account,
    plan,
    refusedFrom: Math.min(expiresAt ?? Infinity, revokedAt ?? Infinity),
    calendar: new Calendar(anchor ?? undefined),
    models: models === undefined || models === null ? undefined : matchModels(catalog, models),
  };
}
