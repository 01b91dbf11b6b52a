import { requireKnownOptions } from "../check/known-options.js";
import { withAtOnce } from "../ledger/at-once.js";
import { reservedNow, withStatesNow } from "../ledger/calls/live-states.js";
import { type Clock, systemClock } from "../ledger/clock.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import { MemoryLedger } from "./memory-ledger.js";

/** Options of {@link memoryCreditLedger}. */
export interface MemoryCreditLedgerOptions {
  /** Default: the process's clock. */
  clock?: Clock | undefined;
  /**
   * How many accounts may have open windows at once. New accounts beyond it are refused with
   * {@link LedgerUnavailableError}, since forgetting one would refill it. Default: 1,000,000.
   */
  maxAccounts?: number | undefined;
  /** How many entries of the journal are kept, the newest of all accounts; 0: none, and no `history`. Default: 10,000. */
  historyEntries?: number | undefined;
}

/**
 * Keeps credits in the memory of this process: exact within it, and empty after a restart.
 *
 * Every operation runs to its end synchronously, and there are no timers: the next operation ends what has expired. The
 * ledger recognises the repetition of a settlement or reservation for at least a minute after its end, and of a grant
 * for 31 days. An expired hold can be settled for at least an hour.
 *
 * @throws RangeError when `maxAccounts` is not a whole number of at least 1, or `historyEntries` not one of at least 0;
 * TypeError on an unknown option.
 */
export function memoryCreditLedger(options: MemoryCreditLedgerOptions = {}): CreditLedger {
  requireKnownOptions("memoryCreditLedger", options, { clock: true, maxAccounts: true, historyEntries: true });
  const { clock = systemClock, maxAccounts = 1_000_000, historyEntries = 10_000 } = options;
  if (!Number.isSafeInteger(maxAccounts) || maxAccounts < 1) {
    throw new RangeError(`maxAccounts must be a whole number of at least 1, not ${maxAccounts}.`);
  }
  if (!Number.isSafeInteger(historyEntries) || historyEntries < 0) {
    throw new RangeError(`historyEntries must be a whole number of at least 0, not ${historyEntries}.`);
  }
  const ledger = new MemoryLedger(clock, maxAccounts, historyEntries);
  // A plain object, so that a host can replace methods: `{ ...ledger, settle }`. The gateway then guards the copy.
  const methods: CreditLedger = {
    keepsLimits: true,
    reserve: async (request) => reservedNow(ledger.reserve(request)),
    renew: (requests) => ledger.renew(requests),
    settle: async (lease, settlement) => withStatesNow(ledger.settle(lease, settlement)),
    release: async (lease, rates) => withStatesNow(ledger.release(lease, rates)),
    balance: (account, limits, of) => ledger.balance(account, limits, of),
    grant: (request) => ledger.grant(request),
    topUp: (request) => ledger.topUp(request),
    deduct: (request) => ledger.deduct(request),
    claimTopUp: (id, account) => ledger.claimTopUp(id, account),
    sweep: () => ledger.sweep(),
    reset: (account, windows) => ledger.reset(account, windows),
    ...(historyEntries > 0 && {
      history: (request) => ledger.history(request),
      totals: (request) => ledger.totals(request),
      statement: (request) => ledger.statement(request),
    }),
    forget: (account) => ledger.forget(account),
    close: () => ledger.close(),
  };
  return withAtOnce(Object.defineProperty(methods, "inProcess", { value: true, enumerable: false }), ledger);
}
