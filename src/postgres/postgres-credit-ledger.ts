import { randomUUID } from "node:crypto";
import { admittingInstances, blockedWindows, openInstances, windowStates } from "../ledger/account-state.js";
import {
  type Blocked,
  type CreditLedger,
  type GrantRequest,
  type Lease,
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
} from "../ledger/credit-ledger.js";
import { checkLimits, checkSubject } from "../ledger/ledger-input.js";
import { AccountQueue } from "./account-queue.js";
import { Database, type PostgresOptions } from "./database.js";
import { byWindow, instancesOf, type LedgerAnswer, requireDone } from "./ledger-answer.js";
import {
  grantOperation,
  type LedgerOperation,
  needOf,
  renewOperation,
  reserveOperation,
  resetOperation,
  settleOperation,
} from "./ledger-operation.js";
import { runStatement } from "./run-statement.js";
import { checkStorable } from "./storable.js";

/** Operations on one account, as the schema's function `operate` takes them. */
interface AccountBatch {
  readonly subject: string;
  readonly operations: readonly LedgerOperation[];
}

export class PostgresCreditLedger implements CreditLedger {
  readonly #database: Database;
  readonly #queue = new AccountQueue((subject, operations) => this.#operate([{ subject, operations }]));

  constructor(database: Database) {
    this.#database = database;
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    const answer = await this.#submit(request.subject, reserveOperation(request), request.amount);
    const { now, lease } = answer;
    const { id, subject, limits } = request;
    const open = admittingInstances(instancesOf(answer), limits, now);
    const windows = windowStates(open, limits);
    if (answer.status === "denied") {
      const blocked = blockedWindows(open, limits, needOf(request), now);
      return { ok: false, blocked: blocked as [Blocked, ...Blocked[]], windows, now };
    }
    if (!lease) throw new LedgerUnavailableError("PostgreSQL answered an admission without its lease.");
    const { amount, expiresAt } = lease;
    const [starts, ends] = [byWindow(lease.starts), byWindow(lease.ends)];
    return {
      ok: true,
      lease: { id, subject, amount, expiresAt, starts, ends, limits },
      windows,
      now,
      replayed: answer.status === "replayed",
    };
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    const operations = requests.map(renewOperation);
    return Promise.all(
      requests.map(async ({ lease }, index) => {
        const answer = await this.#submit(lease.subject, operations[index] as LedgerOperation, lease.amount);
        return answer.status as RenewStatus;
      }),
    );
  }

  async settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return this.#end(lease, settleOperation(lease, settlement, "charge"));
  }

  async release(lease: Lease): Promise<SettleResult> {
    return this.#end(lease, settleOperation(lease, { amount: 0 }, "release"));
  }

  async balance(subject: string, limits: WindowLimits): Promise<{ windows: WindowStates; now: number }> {
    checkSubject(subject);
    checkStorable(subject, "subject");
    checkLimits(limits);
    const [answer] = await this.#query<LedgerAnswer>("select infergate.balance($1)::text as json", [subject]);
    if (!answer) throw new LedgerUnavailableError("PostgreSQL answered nothing.");
    const open = admittingInstances(instancesOf(answer), limits, answer.now);
    return { windows: windowStates(open, limits), now: answer.now };
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    const { subject, amount, limits } = request;
    const answer = await this.#submit(subject, grantOperation(request), amount);
    return windowStates(admittingInstances(instancesOf(answer), limits, answer.now), limits);
  }

  async reset(subject: string, windows: readonly WindowName[]): Promise<void> {
    await this.#submit(subject, resetOperation(randomUUID(), subject, windows));
  }

  async forget(subject: string): Promise<void> {
    checkSubject(subject);
    checkStorable(subject, "subject");
    await this.#query("select infergate.forget($1, 1000)::text as json", [subject]);
  }

  async close(): Promise<void> {}

  async #end(lease: Lease, operation: LedgerOperation): Promise<SettleResult> {
    const answer = await this.#submit(lease.subject, operation, lease.amount);
    const windows = windowStates(openInstances(instancesOf(answer), lease.limits, answer.now), lease.limits);
    return { status: answer.status as SettleStatus, windows };
  }

  async #submit(subject: string, operation: LedgerOperation, amount?: number): Promise<LedgerAnswer> {
    const answer = await this.#queue.submit(subject, operation);
    requireDone(answer, { id: operation.id, subject, ...(amount === undefined ? {} : { amount }) });
    return answer;
  }

  async #operate(batches: readonly AccountBatch[]): Promise<readonly LedgerAnswer[]> {
    const sql = "select answer::text as json from infergate.operate($1::text::jsonb) as answer";
    return this.#query<LedgerAnswer>(sql, [JSON.stringify(batches)]);
  }

  #query<Row>(sql: string, values: (string | number | null)[]): Promise<Row[]> {
    return runStatement(() => this.#database.query<Row>(sql, values));
  }
}

export function postgresCreditLedger(options: PostgresOptions): CreditLedger {
  return new PostgresCreditLedger(new Database(options));
}
