import type { ApiKey, Instant, KeyStore } from "../keys/key-store.js";
import type { Micro, WindowName } from "../ledger/credit-ledger.js";
import { toMicro } from "../ledger/price.js";
import { serviceUnavailable } from "../openai/errors.js";
import { planSchema } from "../plans/plan-schema.js";
import type { Plan, PlanStore } from "../plans/plan-store.js";
import { type CachedLookupOptions, cachedLookup, type Lookup } from "./cached-lookup.js";
import { type Catalog, matchModels } from "./catalog.js";
import type { Warn } from "./warning.js";

/** An API key, made ready for the hot path. */
export interface Caller {
  readonly keyId: string;
  readonly account: string;
  readonly plan: string;
  /** Epoch milliseconds of the earlier of expiry and revocation; `Infinity` when neither is set. */
  readonly refusedFrom: number;
  /** Epoch milliseconds. */
  readonly anchor: number | undefined;
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
}

const defaultSessionMs = 5 * 60 * 60 * 1000;
const defaultOutputTokens = 4096;

/** Keys by hash, through the cache. Rejects with a 503 when the store fails. */
export function callerLookup(
  store: KeyStore,
  catalog: Catalog,
  cache: CachedLookupOptions,
  warn: Warn,
): Lookup<Caller> {
  return cachedLookup(async (hash) => {
    try {
      const key = await store.find(hash);
      return key === undefined || key === null ? undefined : toCaller(key, catalog);
    } catch (cause) {
      warn({ code: "key_store_failed", message: "The key store failed; callers get a 503 until it answers.", cause });
      throw serviceUnavailable("API keys cannot be checked at the moment. Try again shortly.", cause);
    }
  }, cache);
}

/** Plans by id, through the cache. Rejects with a 503 when the store fails. */
export function allowanceLookup(
  store: PlanStore,
  catalog: Catalog,
  cache: CachedLookupOptions,
  warn: Warn,
): Lookup<Allowance> {
  const warnOnce = once(warn);
  return cachedLookup(async (id) => {
    try {
      const plan = await store.find(id);
      if (plan !== undefined && plan !== null) return toAllowance(id, plan, catalog, warnOnce);
    } catch (cause) {
      warn({
        code: "plan_store_failed",
        message: `The plan store failed on the plan "${id}"; its callers get a 503.`,
        cause,
      });
      throw serviceUnavailable("Plans cannot be checked at the moment. Try again shortly.", cause);
    }
    warnOnce({
      code: "unknown_plan",
      message: `A key belongs to the plan "${id}", which does not exist: it sees no model.`,
    });
    return undefined;
  }, cache);
}

/**
 * Checks a plan and resolves it against the catalog.
 * @throws TypeError | RangeError when the record is not valid.
 */
export function toAllowance(id: string, plan: Plan, catalog: Catalog, warn: Warn): Allowance {
  const { models, credits, ...rest } = planSchema.parse(plan);
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
  };
}

/** What is wrong with a plan is told when it is first seen, not each time that the cache asks for it again. */
function once(warn: Warn): Warn {
  const told = new Set<string>();
  return (warning) => {
    if (told.has(warning.message) || told.size >= mostTold) return;
    told.add(warning.message);
    warn(warning);
  };
}

const mostTold = 1000;

function toCaller(key: ApiKey, catalog: Catalog): Caller {
  return {
    keyId: key.id,
    account: key.account,
    plan: key.plan,
    refusedFrom: Math.min(toEpoch(key.expiresAt) ?? Infinity, toEpoch(key.revokedAt) ?? Infinity),
    anchor: toEpoch(key.anchor),
    models: key.models === undefined || key.models === null ? undefined : matchModels(catalog, key.models),
  };
}

function toEpoch(instant: Instant | null | undefined): number | undefined {
  if (instant === undefined || instant === null) return undefined;
  const epoch = typeof instant === "number" ? instant : new Date(instant).getTime();
  if (!Number.isFinite(epoch)) throw new TypeError("The key store answered with a key that has an invalid date.");
  return epoch;
}
