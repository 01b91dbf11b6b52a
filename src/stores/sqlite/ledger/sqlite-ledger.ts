import type { Clock } from "../../../ledger/calendar.js";
import type {
  Balance,
  CreditLedger,
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
} from "../../../ledger/credit-ledger.js";
import { LedgerEngine } from "../../../ledger/engine/ledger-engine.js";
import { claimTopUp } from "../../../ledger/engine/ledger-records.js";
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
  checkUsage,
  checkUses,
} from "../../../ledger/ledger-input.js";
import type { DeductRequest, PrepaidState, RateUse, TopUpRequest } from "../../../ledger/limits.js";
import type { NamedLimits } from "../../../ledger/rules/account-limits.js";
import { noUses } from "../../../ledger/rules/rates.js";
import type {
  AccountStatement,
  PeriodTotal,
  StatementRequest,
  TotalsRequest,
  UsageRequest,
  UsageSum,
} from "../../../ledger/usage/usage-request.js";
import { reservedNow, withStatesNow } from "../../../ledger/window-states.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { Totals } from "../usage/totals.js";
import { TotalsRollUp } from "../usage/totals-roll-up.js";
import { UsageReader } from "../usage/usage-reader.js";
import { UsageTable } from "../usage/usage-table.js";
import { type AccountRow, AccountTable } from "./account-table.js";
import { ForgottenAccounts, TopUpClaims } from "./forgotten-accounts.js";
import { JournalTable } from "./journal-table.js";
import { LedgerBatch, toLedgerError } from "./ledger-batch.js";
import { LimitTables } from "./limit-tables.js";
import { ReservationTable } from "./reservation-table.js";
import { Retention } from "./retention.js";
import { SqliteRecords } from "./sqlite-records.js";
import { Statements } from "./statements.js";
import { Sweep } from "./sweep.js";

/** So many renewals are one operation: between those, the process attends to its other work. */
const renewalsPerStep = 64;
/** Old entries are looked for after so many settlements. */
const settlementsPerPurge = 32;

const noNames: NamedLimits = Object.freeze({});

/** The engine over records in a database. Every operation is done in a transaction, with others of its turn of the event loop. */
export class SqliteLedger
  implements Omit<Required<CreditLedger>, "inProcess" | "keepsLimits" | "onReconnected" | "subscribe">
{
  readonly #connection: SqliteConnection;
  readonly #clock: Clock;
  readonly #accounts: AccountTable;
  readonly #limits: LimitTables;
  readonly #journal: JournalTable;
  readonly #retention: Retention;
  readonly #forgotten: ForgottenAccounts;
  readonly #usage: UsageTable;
  readonly #usageReader: UsageReader;
  readonly #records: SqliteRecords;
  readonly #engine: LedgerEngine<AccountRow>;
  readonly #batch: LedgerBatch;
  readonly #rollUp: TotalsRollUp;
  readonly #totals: Totals;
  readonly #statements: Statements;
  readonly #sweep: Sweep;
  /** Of accounts that this process is about to forget, a part may be there yet. */
  readonly #forgetting = new Map<string, Promise<void>>();
  #settlements = 0;
  /** The account that was looked after last. It goes round all of them, from wherever the process began its work. */
  #visited: string | undefined;

  constructor(connection: SqliteConnection, clock: Clock, retentionMs: number) {
    this.#connection = connection;
    this.#clock = clock;
    this.#accounts = new AccountTable(connection);
    this.#journal = new JournalTable(connection);
    this.#limits = new LimitTables(connection);
    this.#usage = new UsageTable(connection, retentionMs);
    this.#rollUp = new TotalsRollUp(connection);
    this.#forgotten = new ForgottenAccounts(connection);
    const kept = { accounts: this.#accounts, limits: this.#limits, usage: this.#usage, rollUp: this.#rollUp };
    this.#retention = new Retention(connection, kept, retentionMs);
    this.#records = new SqliteRecords({
      accounts: this.#accounts,
      limits: this.#limits,
      reservations: new ReservationTable(connection),
      journal: this.#journal,
      retention: this.#retention,
      forgotten: this.#forgotten,
      claims: new TopUpClaims(connection),
    });
    this.#engine = new LedgerEngine(this.#records);
    this.#batch = new LedgerBatch(connection, this.#records);
    const read = { usage: this.#usage, journal: this.#journal, retention: this.#retention };
    this.#usageReader = new UsageReader(connection, read);
    this.#totals = new Totals(connection, { ...read, accounts: this.#accounts, rollUp: this.#rollUp });
    this.#statements = new Statements(connection, {
      batch: this.#batch,
      engine: this.#engine,
      journal: this.#journal,
      retention: this.#retention,
      forgotten: this.#forgotten,
      usage: this.#usageReader,
      forgetting: (account) => this.#forgetting.get(account),
    });
    this.#sweep = new Sweep({ connection, batch: this.#batch, accounts: this.#accounts, engine: this.#engine }, clock);
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    checkReserve(request);
    return this.#write((now) => reservedNow(this.#engine.reserve(request, now)));
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    for (const request of requests) {
      checkRenew(request);
    }
    const statuses: RenewStatus[] = [];
    for (let from = 0; from < requests.length; from += renewalsPerStep) {
      const step = requests.slice(from, from + renewalsPerStep);
      statuses.push(...(await this.#write((now) => step.map((request) => this.#engine.renew(request, now)))));
    }
    return statuses;
  }

  async settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    checkSettle(lease, settlement);
    return this.#end("charge", lease, settlement);
  }

  async release(lease: Lease, rates: readonly RateUse[] = noUses): Promise<SettleResult> {
    checkLease(lease);
    checkUses(rates);
    return this.#end("release", lease, { amountMicro: 0, rates });
  }

  async balance(account: string, limits: WindowLimits, of: NamedLimits = noNames): Promise<Balance> {
    checkAccount(account);
    checkLimits(limits);
    checkNamed(of);
    const read = () => this.#engine.balance(account, limits, of, this.#clock.now());
    return this.#read(() => this.#connection.snapshot(() => this.#records.look(read)));
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    checkGrant(request);
    return this.#write((now) => this.#engine.grant(request, now));
  }

  async topUp(request: TopUpRequest): Promise<PrepaidState> {
    checkTopUp(request);
    return this.#write((now) => this.#engine.topUp(request, now));
  }

  async deduct(request: DeductRequest): Promise<PrepaidState> {
    checkDeduct(request);
    return this.#write((now) => this.#engine.deduct(request, now));
  }

  async claimTopUp(id: string, account: string): Promise<void> {
    checkTopUp({ id, account, amountMicro: 1 });
    await this.#write((now) => claimTopUp(this.#records, id, account, now));
  }

  async sweep(): Promise<number> {
    return this.#sweep.run().catch(throwLedgerError);
  }

  async reset(account: string, windows: readonly WindowName[]): Promise<void> {
    checkAccount(account);
    await this.#write((now) => this.#engine.reset(account, windows, now));
  }

  async history(request: HistoryRequest): Promise<HistoryPage> {
    checkHistory(request);
    return this.#read(() => this.#journal.read(request));
  }

  async usage(request: UsageRequest): Promise<readonly UsageSum[]> {
    checkUsage(request);
    return this.#usageReader.read(request).catch(throwLedgerError);
  }

  async totals(request: TotalsRequest): Promise<readonly PeriodTotal[]> {
    checkTotals(request);
    return this.#totals.read(request, () => this.#clock.now()).catch(throwLedgerError);
  }

  async statement(request: StatementRequest): Promise<AccountStatement> {
    checkHistory(request);
    return this.#statements.of(request, () => this.#clock.now()).catch(throwLedgerError);
  }

  async forget(account: string): Promise<void> {
    checkAccount(account);
    const forgetting = this.#forget(account);
    this.#forgetting.set(account, forgetting);
    try {
      await forgetting;
    } finally {
      if (this.#forgetting.get(account) === forgetting) this.#forgetting.delete(account);
    }
  }

  async #forget(account: string): Promise<void> {
    const [sequence, at] = await this.#write((now) => {
      this.#records.flush();
      this.#forgotten.add(account, now);
      return [this.#retention.forgetState(account, now), now];
    });
    await this.#inSteps(() => this.#usage.forgetOlder(account, at));
    await this.#inSteps(() => this.#retention.forgetEntries(account, sequence));
    await this.#inSteps((now) => this.#rollUp.hasChanges() && this.#rollUp.step(now));
  }

  /** Does work in tables of which the engine knows nothing, until it says that nothing is left. */
  async #inSteps(step: (now: number) => boolean): Promise<void> {
    const work = (now: number) => {
      this.#records.flush();
      return step(now);
    };
    let isLeft = true;
    while (isLeft) isLeft = await this.#write(work);
  }

  /** Resolves when nothing waits for another process. The database stays open: it is the host's. */
  async close(): Promise<void> {
    await this.#batch.idle();
    await this.#connection.idle();
  }

  #end(kind: "charge" | "release", lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return this.#write((now) => {
      const result = withStatesNow(this.#engine.end(kind, lease, settlement, now));
      this.#settlements++;
      if (this.#settlements % settlementsPerPurge === 0) this.#purge(lease.account, now);
      return result;
    });
  }

  /** Looks after the account at hand, and after the next of all: the busy ones come up more often. */
  #purge(account: string, now: number): void {
    this.#records.flush();
    this.#forgotten.purge(now);
    if (this.#rollUp.isBehind()) this.#rollUp.step(now);
    this.#retention.purge(account, now);
    const next = this.#accounts.idAfter(this.#visited ?? account) ?? this.#accounts.idAfter("") ?? account;
    this.#visited = next;
    this.#engine.find(next, now);
    this.#records.flush();
    this.#retention.purge(next, now);
    this.#limits.purge(now);
  }

  #write<Result>(work: (now: number) => Result): Promise<Result> {
    return this.#batch.run(() => work(this.#clock.now()));
  }

  async #read<Result>(run: () => Result): Promise<Result> {
    try {
      return await this.#connection.read(run);
    } catch (error) {
      return throwLedgerError(error);
    }
  }
}

function throwLedgerError(error: unknown): never {
  throw toLedgerError(error);
}
