import { type GatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import { Calendar } from "../ledger/calendar.js";
import type { AccountRecord, AccountStore } from "../records/accounts/account-store.js";
import { checkAccountRecord } from "../records/accounts/record-account-store.js";
import { type CachedLookup, cachedLookup } from "./cached-lookup.js";
import type { IdentifiedCaller } from "./caller.js";
import type { CurrentCatalog } from "./catalog.js";
import { ModelPatterns } from "./model-patterns.js";
import { RateRules } from "./rate-rules.js";
import { checkRecord, readWithin, type StoreLookupOptions } from "./store-lookup.js";
import { warnOfUnmatched } from "./warn-of-unmatched.js";

/** What an account's record says of all its callers, whatever their plan. */
export type OwnTerms = Pick<IdentifiedCaller, "accountRates" | "accountModels" | "accountPriceFactor">;

/** An account of the account store, checked: a request needs no more of it. */
export interface KnownAccount {
  readonly plan: string;
  /** Epoch milliseconds; `null`: weeks and months begin by the calendar. */
  readonly anchor: number | null;
  /** Where the account's weeks and months begin and end. */
  readonly calendar: Calendar;
  /** What clients read while the account is suspended, `null` for the usual sentence; `undefined`: it is active. */
  readonly suspension: string | null | undefined;
  /** Its own terms, beside those of its plan; `undefined`: it has none. */
  readonly terms: OwnTerms | undefined;
}

export interface AccountLookupOptions extends StoreLookupOptions {
  /** Gets what is wrong with an account that can be used all the same, once for each message. */
  warnOnce: Warn;
}

/** Accounts by id, through the cache. Rejects with a 503 when the store fails. */
export function accountLookup(
  store: AccountStore,
  catalog: CurrentCatalog,
  { timeLimit, warn, warnOnce, ...cache }: AccountLookupOptions,
): CachedLookup<KnownAccount> {
  const fail = (problem: string, cause: unknown): GatewayError => {
    const message = `The account store ${problem}. Callers get a 503 until it is fixed.`;
    warn({ code: "account_store_failed", message, cause });
    return serviceUnavailable("Accounts cannot be checked at the moment. Try again shortly.", cause);
  };
  return cachedLookup(async (id) => {
    const account = await readWithin(() => store.find(id), timeLimit, fail);
    if (account === undefined || account === null) return undefined;
    const known = checkRecord(() => toKnownAccount(account), fail);
    warnOfUnmatched({ account: id, models: known.terms?.accountModels }, catalog.current, warnOnce);
    return known;
  }, cache);
}

function toKnownAccount(record: AccountRecord): KnownAccount {
  const { plan, anchor, status, message, ...terms } = checkAccountRecord(record);
  return {
    plan,
    anchor: anchor ?? null,
    calendar: new Calendar(anchor ?? undefined),
    suspension: status === "suspended" ? (message ?? null) : undefined,
    terms: toOwnTerms(terms),
  };
}

function toOwnTerms({
  rates,
  models,
  priceFactor,
}: Pick<AccountRecord, "rates" | "models" | "priceFactor">): OwnTerms | undefined {
  const accountRates = RateRules.of({ owner: "account", counters: "account" }, rates);
  const accountModels = models ? new ModelPatterns(models) : undefined;
  const accountPriceFactor = priceFactor ?? undefined;
  const hasTerms = accountRates || accountModels || accountPriceFactor;
  return hasTerms ? { accountRates, accountModels, accountPriceFactor } : undefined;
}
