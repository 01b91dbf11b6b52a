import { Announcements } from "../../../ledger/announcements.js";
import {
  type Balance,
  type CreditLedger,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerConflictError,
  LedgerUnavailableError,
  type RenewRequest,
  type RenewStatus,
  type ReserveRequest,
  type ReserveResult,
  type Settlement,
  type SettleResult,
  type SettleStatus,
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../../../ledger/credit-ledger.js";
import {
  checkAccount,
  checkHistory,
  checkLimits,
  checkNamed,
  checkTopUp,
  checkTotals,
  checkUsage,
} from "../../../ledger/ledger-input.js";
import type { DeductRequest, PrepaidState, RateUse, TopUpRequest } from "../../../ledger/limits.js";
import { asItIs, atMost, promised } from "../../../ledger/promised.js";
import type { NamedLimits } from "../../../ledger/rules/account-limits.js";
import { newPrepaid, prepaidState } from "../../../ledger/rules/prepaid.js";
import { creditsAfter, creditsOf, judgeReservation, toLease } from "../../../ledger/rules/reservation.js";
import { admittingInstances, windowStates } from "../../../ledger/rules/windows.js";
import { RepeatedSends } from "../../../ledger/storage/repeated-sends.js";
import type {
  AccountStatement,
  PeriodTotal,
  StatementRequest,
  TotalsRequest,
  UsageRequest,
  UsageSum,
} from "../../../ledger/usage/usage-request.js";
import { mostTotals, tooManyTotals } from "../../../ledger/usage/usage-sums.js";
import { type Database, ReadCommitted, runStatement } from "../database.js";
import { Purger } from "../purger.js";
import type { KeptQuarters } from "../usage/split-periods.js";
import {
  type StoredStatement,
  statementProcedure,
  statementSql,
  statementValues,
  toStatement,
} from "../usage/statement-functions.js";
import {
  areOfQuarters,
  isOutdated,
  keptQuartersQuery,
  type StoredTotal,
  type SumRow,
  toPeriodTotal,
  totalsQuery,
  toUsageSum,
  usageSql,
  usageValues,
} from "../usage/usage-query.js";
import { type AccountBatch, type RunBatches, renewalBatches, SingleOperations } from "./account-batches.js";
import { AccountQueue, type BatchBounds } from "./account-queue.js";
import { historyPage, historyQuery, type JournalRow } from "./ledger-history.js";
import {
  deductOperation,
  grantOperation,
  type LedgerOperation,
  namedLimits,
  releaseOperation,
  reserveOperation,
  resetOperation,
  settleOperation,
  topUpOperation,
} from "./ledger-operation.js";
import { byWindow, type OperationReply, partOf, type Refusable, requireDone, viewOf } from "./operation-reply.js";

/** Of a long journal. */
const forgottenAtOnce = 10_000;
/** Entries of the journal. It takes some tenths of a second, and a connection of the pool. */
const slicedAtOnce = 10_000;
/** Accounts. They are locked for some tenths of a second. */
const sweptAtOnce = 100;
/** Statements of a sweep. */
const mostSweeps = 50;
/** How long the end of the ledger waits for operations that hang. */
const closeMs = 10_000;
/** How long a change waits for its notice where it must be sent before the request is over. */
const announceMs = 250;

const operateSql = "select answer::text as json from infergate.operate($1::text::jsonb) as answer";
const operateProcedure = "call infergate.operate_read_committed($1::text::jsonb, null)";
const balanceSql = "select infergate.balance_of($1, $2::text::jsonb)::text as json";
const claimSql = "select infergate.claim_top_up($1, $2)::text as json";
// Its plans must go by indexes and so look dear: PostgreSQL would compile them each time, which takes a quarter of a second.
const purgeSql = "select infergate.purge($1, $2)::text as json from set_config('jit', 'off', true)";
const sliceSql = "select infergate.slice_usage($1)::text as json";
const runSql = "select infergate.run_totals($1)::text as json";
const mergeSql = "select infergate.merge_quarters($1)::text as json";
const sweepSql = "select infergate.sweep($1)::text as json";
const sweepProcedure = "call infergate.sweep_read_committed($1, null)";
const forgetSql = "select infergate.forget($1, $2)::text as json";
const forgetProcedure = "call infergate.forget_read_committed($1, $2, null)";
const announceSql = "select pg_notify($1, account) from jsonb_array_elements_text($2::text::jsonb) as account";

/** The operations, each of them one statement but for {@link forget}. */
export class PostgresLedger implements CreditLedger {
  readonly #database: Database;
  readonly #queue: AccountQueue | SingleOperations;
  readonly #purger: Purger;
  readonly #readCommitted: ReadCommitted;
  readonly #announcements: Announcements;

  /** The channel for notices of grants, resets and forgotten accounts, by their accounts. */
  readonly channel: string;

  constructor(database: Database, retentionMs: number, bounds: BatchBounds) {
    const run: RunBatches = (batches) => this.#operate(batches);
    const sends = new RepeatedSends("PostgreSQL");
    this.#queue = database.isolate
      ? new SingleOperations(run)
      : new AccountQueue(
          (batches) => sends.run({ send: () => run(batches), mayRepeat: !batches.some(hasReset) }),
          bounds,
        );
    this.#database = database;
    this.channel = `${database.schema}_account`;
    this.#readCommitted = new ReadCommitted(database);
    this.#announcements = new Announcements((accounts) => this.#notify(accounts));
    this.#purger = new Purger(async (stepSize) => {
      const [more] = await database.query(purgeSql, [retentionMs, stepSize]);
      // One that fails leaves nothing behind, and must not hold up the retention.
      const [unsliced] = await database.query(sliceSql, [slicedAtOnce]).catch(() => [false]);
      const [unrun] = await database.query(runSql, [slicedAtOnce]).catch(() => [false]);
      const [unmerged] = await database.query(mergeSql, [stepSize]).catch(() => [false]);
      return [more, unsliced, unrun, unmerged].includes(true);
    });
  }

  reserve(request: ReserveRequest): Promise<ReserveResult> {
    return promised(() => this.#submit(reserveOperation(request), request, (answer) => reserved(request, answer)));
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    const answers: OperationReply[] = [];
    // Not through the queue, since they concern many accounts, and not all at once, since they are in no hurry.
    for (const { accounts, places } of renewalBatches(requests)) {
      for (const [index, answer] of (await this.#operate(accounts)).entries())
        answers[places[index] as number] = answer;
    }
    return requests.map(({ lease }, index) => {
      const answer = answers[index] as OperationReply;
      requireDone(answer, lease);
      return answer.status as RenewStatus;
    });
  }

  settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return promised(() => this.#end(lease, settleOperation(lease, settlement, "charge")));
  }

  release(lease: Lease, rates: readonly RateUse[] = []): Promise<SettleResult> {
    return promised(() => this.#end(lease, releaseOperation(lease, rates)));
  }

  async balance(account: string, limits: WindowLimits, of: NamedLimits = {}): Promise<Balance> {
    checkAccount(account);
    checkLimits(limits);
    checkNamed(of);
    const named = namedLimits(of);
    const answer = await this.#queryOne<OperationReply>(balanceSql, [account, named ? JSON.stringify(named) : null]);
    const { now } = answer;
    const view = viewOf(answer);
    admittingInstances(view, limits, now);
    return { ...creditsOf(view, limits, of, now), now };
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    const answer = await this.#submit(grantOperation(request), request, asItIs);
    await this.#announce(request.account);
    return windowStates(admittingInstances(viewOf(answer), request.limits, answer.now), request.limits);
  }

  async topUp(request: TopUpRequest): Promise<PrepaidState> {
    return this.#changePrepaid(topUpOperation(request), request);
  }

  async deduct(request: DeductRequest): Promise<PrepaidState> {
    return this.#changePrepaid(deductOperation(request), request);
  }

  async claimTopUp(id: string, account: string): Promise<void> {
    checkTopUp({ id, account, amountMicro: 1 });
    if (!(await this.#queryOne<boolean>(claimSql, [id, account]))) {
      throw new LedgerConflictError(`${id} was used before with another account.`);
    }
  }

  async reset(account: string, windows: readonly WindowName[]): Promise<void> {
    await this.#submit(resetOperation(account, windows), { account }, asItIs);
    await this.#announce(account);
  }

  async history(request: HistoryRequest): Promise<HistoryPage> {
    checkHistory(request);
    const { sql, values } = historyQuery(request);
    return historyPage(await this.#query<JournalRow>(sql, values), request);
  }

  async usage(request: UsageRequest): Promise<UsageSum[]> {
    checkUsage(request);
    const rows = await this.#query<SumRow>(usageSql, usageValues(request));
    return rows.map((row) => toUsageSum(row, request.by));
  }

  async totals(request: TotalsRequest): Promise<readonly PeriodTotal[]> {
    checkTotals(request);
    if (request.periods[0] === request.periods.at(-1)) return [];
    for (;;) {
      const { sql, values } = totalsQuery(request, await this.#keptQuarters(request));
      const rows = await this.#query<StoredTotal>(sql, values);
      // Between the two statements, a process had too many sets of tags.
      if (rows.some(isOutdated)) continue;
      if (rows.length > mostTotals) throw tooManyTotals();
      return rows.map((row) => toPeriodTotal(row, request));
    }
  }

  async statement(request: StatementRequest): Promise<AccountStatement> {
    checkHistory(request);
    const values = statementValues(request);
    const read = () => this.#readCommitted.query<StoredStatement>(statementSql, statementProcedure, values);
    return toStatement(request, only(await runStatement(read)));
  }

  async forget(account: string): Promise<void> {
    checkAccount(account);
    const step = () => this.#readCommitted.query<boolean>(forgetSql, forgetProcedure, [account, forgottenAtOnce]);
    while (!only(await runStatement(step)));
    await this.#announce(account);
  }

  async sweep(): Promise<number> {
    const sweep = () => this.#readCommitted.query<number>(sweepSql, sweepProcedure, [sweptAtOnce]);
    let ended = 0;
    for (let step = 0; step < mostSweeps; step++) {
      const count = only(await runStatement(sweep));
      ended += count;
      if (count < sweptAtOnce) break;
    }
    if (this.#database.isolate) await this.#purger.sweep();
    return ended;
  }

  async close(): Promise<void> {
    // First: what they do may set off the others.
    await atMost(closeMs, this.#queue.idle());
    await atMost(closeMs, Promise.all([this.#purger.idle(), this.#announcements.idle()]));
  }

  #end(lease: Lease, operation: LedgerOperation): Promise<SettleResult> {
    return this.#submit(operation, lease, (answer) => {
      const status = answer.status as SettleStatus;
      const { paid: prepaidMicro } = answer;
      const credits = creditsAfter(viewOf(answer), lease, answer.now);
      return prepaidMicro === undefined ? { status, ...credits } : { status, prepaidMicro, ...credits };
    });
  }

  async #changePrepaid(operation: LedgerOperation, request: TopUpRequest | DeductRequest): Promise<PrepaidState> {
    const answer = await this.#submit(operation, request, asItIs);
    await this.#announce(request.account);
    return prepaidState(viewOf(answer).limits?.prepaid ?? newPrepaid(), answer.now);
  }

  /** @param read - makes of the answer what the caller gets, when it was not refused. */
  #submit<Result>(
    operation: LedgerOperation,
    request: Refusable,
    read: (answer: OperationReply) => Result,
  ): Promise<Result> {
    return this.#queue.submit(request.account, operation, (answer) => {
      requireDone(answer, request);
      return read(answer);
    });
  }

  async #announce(account: string): Promise<void> {
    if (this.#database.isolate)
      await atMost(
        announceMs,
        this.#notify([account]).catch(() => {}),
      );
    else this.#announcements.add(account);
  }

  async #notify(accounts: readonly string[]): Promise<void> {
    await this.#database.pool.query(announceSql, [this.channel, JSON.stringify(accounts)]);
  }

  async #operate(batches: readonly AccountBatch[]): Promise<readonly OperationReply[]> {
    const answers = await runStatement(() =>
      this.#readCommitted.query<OperationReply>(operateSql, operateProcedure, [JSON.stringify(batches)]),
    );
    const expected = batches.reduce((count, { operations }) => count + operations.length, 0);
    if (answers.length !== expected) throw incomplete();
    if (!this.#database.isolate) this.#purger.touch();
    return answers;
  }

  async #queryOne<Answer>(sql: string, values: (string | null)[]): Promise<Answer> {
    return only(await this.#query<Answer>(sql, values));
  }

  async #keptQuarters(request: TotalsRequest): Promise<KeptQuarters | undefined> {
    if (!areOfQuarters(request)) return undefined;
    const { sql, values } = keptQuartersQuery(request);
    const [from, untagged] = only(await this.#query<[number, number[]]>(sql, values));
    return { from, untagged };
  }

  #query<Answer>(sql: string, values: (string | number | null)[]): Promise<Answer[]> {
    return runStatement(() => this.#database.query<Answer>(sql, values));
  }
}

function reserved(request: ReserveRequest, answer: OperationReply): ReserveResult {
  const { account, limits } = request;
  const { now, lease } = answer;
  const view = viewOf(answer);
  const credits = creditsOf(view, limits, request, now);
  if (!lease) {
    // The statement has decided by the same rules; what it returned shows them again.
    const { denial } = judgeReservation(admittingInstances(view, limits, now), view.limits, request, now);
    return { ok: false, blocked: [], ...denial, ...credits, now };
  }
  const { amount: amountMicro, expiresAt } = lease;
  const receipt = { account, amountMicro, expiresAt, starts: byWindow(lease.starts), ends: byWindow(lease.ends) };
  const replayed = answer.status === "replayed";
  return { ok: true, lease: toLease(request, receipt, partOf(lease)), ...credits, now, replayed };
}

function only<Answer>([answer]: readonly Answer[]): Answer {
  if (answer === undefined) throw incomplete();
  return answer;
}

function incomplete(): LedgerUnavailableError {
  return new LedgerUnavailableError("PostgreSQL returned fewer results than there were operations.");
}

/** A reset has no id: a second one would take away what was charged after the first. */
function hasReset({ operations }: AccountBatch): boolean {
  return operations.some(({ op }) => op === "reset");
}
