import type { LedgerAtOnce } from "../ledger/at-once.js";
import type { Clock } from "../ledger/clock.js";
import type {
  Balance,
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
} from "../ledger/credit-ledger.js";
import { claimTopUp } from "../ledger/engine/claim-top-up.js";
import { LedgerEngine } from "../ledger/engine/ledger-engine.js";
import { nextTurn } from "../ledger/journal/next-turn.js";
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
} from "../ledger/ledger-input.js";
import type { NamedLimits } from "../ledger/limits/account-limits.js";
import { noUses } from "../ledger/limits/no-uses.js";
import type { DeductRequest, PrepaidState, TopUpRequest } from "../ledger/prepaid-state.js";
import type { RateUse } from "../ledger/rate-limit.js";
import type { AccountStatement, StatementRequest } from "../ledger/statement/account-statement.js";
import { StatementBooks } from "../ledger/statement/statement-books.js";
import { TotalSums } from "../ledger/usage/total-sums.js";
import type { PeriodTotal, TotalsRequest } from "../ledger/usage/usage-totals.js";
import type { Account } from "./account.js";
import { MemoryRecords } from "./memory-records.js";

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
