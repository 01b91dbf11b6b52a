import { checkAccountRecord } from "../accounts/account-schema.js";
import type { AccountRecord, AccountStore } from "../accounts/account-store.js";
import { type GatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import { Calendar } from "../ledger/windows.js";
import { type CachedLookup, cachedLookup } from "./cached-lookup.js";
import { RateRules } from "./rate-rules.js";
import { checkRecord, findWithin, type StoreLookupOptions } from "./store-lookup.js";

/** An account of the account store, checked: a request needs no more of it. */
export interface KnownAccount {
  readonly plan: string;
  /** Epoch milliseconds; `null`: weeks and months begin by the calendar. */
  readonly anchor: number | null;
  /** Where the account's weeks and months begin and end. */
  readonly calendar: Calendar;
  /** What clients read while the account is suspended, `null` for the usual sentence; `undefined`: it is active. */
  readonly suspension: string | null | undefined;
  /** Its own, beside those of its plan. */
  readonly rates: RateRules | undefined;
}

/** Accounts by id, through the cache. Rejects with a 503 when the store fails. */
export function accountLookup(
  store: AccountStore,
  { timeLimit, warn, ...cache }: StoreLookupOptions,
): CachedLookup<KnownAccount> {
  const fail = (problem: string, cause: unknown): GatewayError => {
    const message = `The account store ${problem}. Callers get a 503 until it is fixed.`;
    warn({ code: "account_store_failed", message, cause });
    return serviceUnavailable("Accounts cannot be checked at the moment. Try again shortly.", cause);
  };
  return cachedLookup(async (id) => {
    const account = await findWithin(() => store.find(id), timeLimit, fail);
    if (account === undefined || account === null) return undefined;
    return checkRecord(() => toKnownAccount(account), fail);
  }, cache);
}

function toKnownAccount(record: AccountRecord): KnownAccount {
  const { plan, anchor, status, message, rates } = checkAccountRecord(record);
  return {
    plan,
    anchor: anchor ?? null,
    calendar: new Calendar(anchor ?? undefined),
    suspension: status === "suspended" ? (message ?? null) : undefined,
    rates: RateRules.of({ owner: "account", counters: "account" }, rates),
  };
}
