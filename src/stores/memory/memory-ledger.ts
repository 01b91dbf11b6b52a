import { requireKnownOptions } from "../../check/known-options.js";
import { type LedgerAtOnce, withAtOnce } from "../../ledger/at-once.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";
import type {
  Balance,
  CreditLedger,
  DeniedReservation,
  GrantRequest,
  HistoryPage,
  HistoryRequest,
  Lease,
  RenewRequest,
  RenewStatus,
  ReserveRequest,
  ReserveResult,
  Settlement,
  SettleResult,
  WindowLimits,
  WindowName,
  WindowStates,
} from "../../ledger/credit-ledger.js";
import { LedgerEngine } from "../../ledger/engine/ledger-engine.js";
import { claimTopUp } from "../../ledger/engine/ledger-records.js";
import {
  checkAccount,
  checkDeduct,
  checkGrant,
  checkHistory,
  checkLease,
  checkLimits,
  checkNamed,
  checkRenew,
  checkReserve,
  checkSettle,
  checkTopUp,
  checkTotals,
  checkUses,
} from "../../ledger/ledger-input.js";
import type { DeductRequest, PrepaidState, RateUse, TopUpRequest } from "../../ledger/limits.js";
import { nextTurn } from "../../ledger/promised.js";
import type { NamedLimits } from "../../ledger/rules/account-limits.js";
import { noUses } from "../../ledger/rules/rates.js";
import { StatementBooks } from "../../ledger/rules/statement.js";
import type {
  AccountStatement,
  PeriodTotal,
  StatementRequest,
  TotalsRequest,
} from "../../ledger/usage/usage-request.js";
import { TotalSums } from "../../ledger/usage/usage-sums.js";
import { reservedNow, withStatesNow } from "../../ledger/window-states.js";
import type { Account } from "./account.js";
import { MemoryRecords } from "./memory-records.js";

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

const entriesPerPage = 1_000;
/** Some milliseconds of work. */
const entriesPerTurn = 250;

const noNames: NamedLimits = Object.freeze({});

/**
 * The engine over records in this process. Every operation runs to its end synchronously. Those that each call needs return
 * their results without a promise, and the windows of an account that has nothing beside them as `LiveStates`.
 */
export class MemoryLedger implements LedgerAtOnce {
  readonly #clock: Clock;
  readonly #records: MemoryRecords;
  readonly #engine: LedgerEngine<Account>;

  constructor(clock: Clock, maxAccounts: number, historyEntries: number) {
    this.#clock = clock;
    this.#records = new MemoryRecords(maxAccounts, historyEntries);
    this.#engine = new LedgerEngine(this.#records);
  }

  reserve(request: ReserveRequest): ReserveResult {
    checkReserve(request);
    const now = this.#clock.now();
    this.#records.dropOld(now);
    return this.#engine.reserve(request, now);
  }

  denial(request: ReserveRequest): DeniedReservation | undefined {
    return this.#engine.denial(request, this.#clock.now());
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    for (const request of requests) checkRenew(request);
    const now = this.#clock.now();
    return requests.map((request) => this.#engine.renew(request, now));
  }

  settle(lease: Lease, settlement: Settlement): SettleResult {
    checkSettle(lease, settlement);
    return this.#engine.end("charge", lease, settlement, this.#clock.now());
  }

  release(lease: Lease, rates: readonly RateUse[] = noUses): SettleResult {
    checkLease(lease);
    checkUses(rates);
    return this.#engine.end("release", lease, { amountMicro: 0, rates }, this.#clock.now());
  }

  async balance(account: string, limits: WindowLimits, of: NamedLimits = noNames): Promise<Balance> {
    checkAccount(account);
    checkLimits(limits);
    checkNamed(of);
    return this.#engine.balance(account, limits, of, this.#clock.now());
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    checkGrant(request);
    return this.#engine.grant(request, this.#clock.now());
  }

  async topUp(request: TopUpRequest): Promise<PrepaidState> {
    checkTopUp(request);
    return this.#engine.topUp(request, this.#clock.now());
  }

  async deduct(request: DeductRequest): Promise<PrepaidState> {
    checkDeduct(request);
    return this.#engine.deduct(request, this.#clock.now());
  }

  async claimTopUp(id: string, account: string): Promise<void> {
    claimTopUp(this.#records, id, account, this.#clock.now());
  }

  async reset(account: string, windows: readonly WindowName[]): Promise<void> {
    checkAccount(account);
    this.#engine.reset(account, windows, this.#clock.now());
  }

  async history(request: HistoryRequest): Promise<HistoryPage> {
    checkHistory(request);
    return this.#records.journal.read(request);
  }

  async totals(request: TotalsRequest): Promise<readonly PeriodTotal[]> {
    checkTotals(request);
    const sums = new TotalSums(request);
    // Those of this moment: others may come meanwhile.
    const entries = [...this.#records.journal.all()];
    for (const [place, entry] of entries.entries()) {
      if (place % entriesPerTurn === entriesPerTurn - 1) await nextTurn();
      sums.addEntry(entry.account, entry);
    }
    return sums.list();
  }

  async statement(request: StatementRequest): Promise<AccountStatement> {
    checkHistory(request);
    const now = this.#clock.now();
    const prepaid = this.#engine.find(request.account, now)?.limits?.prepaid;
    const books = new StatementBooks(request, { now, keptFrom: this.#records.journal.keptFrom, prepaid });
    let cursor: string | undefined;
    do {
      const page = this.#records.journal.read({ account: request.account, cursor, limit: entriesPerPage });
      for (const entry of page.entries) books.add(entry);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return books.statement();
  }

  async forget(account: string): Promise<void> {
    checkAccount(account);
    this.#records.forget(account, this.#clock.now());
  }

  async sweep(): Promise<number> {
    const now = this.#clock.now();
    return this.#records.dueAccounts(now).reduce((ended, account) => ended + this.#engine.endExpired(account, now), 0);
  }

  async close(): Promise<void> {}
}
