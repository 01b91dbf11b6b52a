import { type GatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import type { CallerSource } from "../events/request-observer.js";
import type { Warn } from "../events/warning.js";
import { Calendar } from "../ledger/calendar.js";
import { sharedTags, type Tags } from "../prices/tags.js";
import { checkKey } from "../records/keys/check-key.js";
import type { ApiKey, KeyStore } from "../records/keys/key-store.js";
import type { CallerBudgets } from "./budgets/caller-budgets.js";
import { type CachedLookup, cachedLookup } from "./cached-lookup.js";
import { ownCounters } from "./counter-name.js";
import { KeyCaps } from "./key-caps.js";
import { ModelPatterns } from "./model-patterns.js";
import { RateRules } from "./rate-rules.js";
import { checkRecord, readWithin, type StoreLookupOptions } from "./store-lookup.js";
import { warnOfTooLarge } from "./warn-of-too-large.js";

/** Whose request it is, checked. Its account has not been looked up. */
export interface IdentifiedCaller {
  readonly source: CallerSource;
  /** Absent where no API key was sent. */
  readonly keyId: string | undefined;
  /** What the journal files the caller's charges under: the key's id, or a name for what came without one. */
  readonly filedUnder: string;
  readonly account: string;
  /** `undefined`: only the account's record may name one. */
  readonly plan: string | undefined;
  /** Epoch milliseconds of the earlier of expiry and revocation; `Infinity` when neither is set. */
  readonly refusedFrom: number;
  /** Whether the key is refused until it is enabled again. Absent where no API key was sent. */
  readonly isDisabled?: boolean | undefined;
  /** Where the account's weeks and months begin and end. */
  readonly calendar: Calendar;
  /** The models that the caller is restricted to; `undefined`: the plan alone decides. */
  readonly models: ModelPatterns | undefined;
  /** What the host files all of the caller's calls under. */
  readonly tags?: Tags | undefined;
  /** What the key may cost. */
  readonly caps?: KeyCaps | undefined;
  /** Of the key. */
  readonly rates?: RateRules | undefined;
  /** Of the account's record. */
  readonly accountRates?: RateRules | undefined;
  /** The models that the account's record restricts all its callers to. */
  readonly accountModels?: ModelPatterns | undefined;
  /** Of the account's record: what prices are multiplied by, in place of the plan's. */
  readonly accountPriceFactor?: number | undefined;
}

/** A caller that may call, with the terms that count: a request needs no more of it. */
export interface Caller extends IdentifiedCaller {
  readonly plan: string;
  /** Those of its tags. Their caps are among its caps. */
  readonly budgets?: CallerBudgets | undefined;
  /** The same caller without its budgets. */
  readonly unbudgeted?: Caller | undefined;
}

export interface CallerLookupOptions extends StoreLookupOptions {
  /** Whether keys may name no plan, since accounts do. */
  hasAccounts: boolean;
  /** Gets what is wrong with a key that can be used all the same, once for each message. */
  warnOnce: Warn;
}

/** Keys by hash, through the cache. Rejects with a 503 when the store fails. */
export function callerLookup(
  store: KeyStore,
  { timeLimit, warn, warnOnce, hasAccounts, ...cache }: CallerLookupOptions,
): CachedLookup<IdentifiedCaller> {
  const fail = (problem: string, cause: unknown): GatewayError => {
    warn({
      code: "key_store_failed",
      message: `The key store ${problem}. Callers get a 503 until it is fixed.`,
      cause,
    });
    return serviceUnavailable("API keys cannot be checked at the moment. Try again shortly.", cause);
  };
  return cachedLookup(async (hash) => {
    const key = await readWithin(() => store.find(hash), timeLimit, fail);
    if (key === undefined || key === null) return undefined;
    const caller = checkRecord(() => toCaller(key, hasAccounts), fail);
    warnOfTooLarge(`The key ${JSON.stringify(key.id)}`, key.credits, warnOnce);
    return caller;
  }, cache);
}

function toCaller(record: ApiKey, hasAccounts: boolean): IdentifiedCaller {
  const { id, account, plan, expiresAt, revokedAt, enabled, models, anchor, ...limits } = checkKey(record);
  const lacksPlan = plan === undefined || plan === null;
  if (lacksPlan && !hasAccounts) throw new TypeError("plan: is required, since the gateway has no account store");
  const counters = ownCounters("key", limits.lineage ?? id);
  return {
    source: "key",
    keyId: id,
    filedUnder: id,
    account,
    plan: plan ?? undefined,
    refusedFrom: Math.min(expiresAt ?? Infinity, revokedAt ?? Infinity),
    isDisabled: enabled === false,
    calendar: new Calendar(anchor ?? undefined),
    tags: sharedTags(limits.tags),
    models: models === undefined || models === null ? undefined : new ModelPatterns(models),
    caps: KeyCaps.of(counters, limits.credits),
    rates: RateRules.of({ owner: "key", counters }, limits.rates),
  };
}
