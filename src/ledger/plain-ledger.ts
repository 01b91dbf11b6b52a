import type { CreditLedger } from "./credit-ledger.js";

/** What every ledger of a database does, whether it keeps a journal and tells of changes or not. */
type LedgerMethods = Required<
  Pick<
    CreditLedger,
    | ("reserve" | "renew" | "settle" | "release" | "balance" | "grant" | "topUp" | "deduct" | "claimTopUp")
    | ("sweep" | "reset" | "forget" | "close")
  >
>;

/** A plain object, so that a host can wrap a method or two with `{ ...ledger, settle }`. */
export function plainLedger(ledger: LedgerMethods): CreditLedger {
  return {
    keepsLimits: true,
    reserve: (request) => ledger.reserve(request),
    renew: (requests) => ledger.renew(requests),
    settle: (lease, settlement) => ledger.settle(lease, settlement),
    release: (lease, rates) => ledger.release(lease, rates),
    balance: (account, limits, of) => ledger.balance(account, limits, of),
    grant: (request) => ledger.grant(request),
    topUp: (request) => ledger.topUp(request),
    deduct: (request) => ledger.deduct(request),
    claimTopUp: (id, account) => ledger.claimTopUp(id, account),
    sweep: () => ledger.sweep(),
    reset: (account, windows) => ledger.reset(account, windows),
    forget: (account) => ledger.forget(account),
    close: () => ledger.close(),
  };
}
