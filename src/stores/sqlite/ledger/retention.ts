import { dayMs } from "../../../ledger/calendar.js";
import { noInstances } from "../../../ledger/rules/windows.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";
import type { TotalsRollUp } from "../usage/totals-roll-up.js";
import type { UsageTable } from "../usage/usage-table.js";
import { type AccountTable, newAccount } from "./account-table.js";
import type { LimitTables } from "./limit-tables.js";

const rowsPerPurge = 64;
const rowsPerForgetting = 256;
/** The ids of top-ups are known for as long at least. */
const topUpKeptMs = 31 * dayMs;

interface Tables {
  readonly accounts: AccountTable;
  readonly limits: LimitTables;
  readonly usage: UsageTable;
  readonly rollUp: TotalsRollUp;
}

/** Ends the life of entries, a few at a time: of those that are too old, and of forgotten accounts'. */
export class Retention {
  readonly #accounts: AccountTable;
  readonly #limits: LimitTables;
  readonly #usage: UsageTable;
  readonly #rollUp: TotalsRollUp;
  readonly #keepMs: number;
  readonly #outdated: SqliteStatement;
  readonly #ofAccount: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #deleteHolds: SqliteStatement;
  readonly #horizon: SqliteStatement;
  readonly #putHorizon: SqliteStatement;

  constructor(connection: SqliteConnection, { accounts, limits, usage, rollUp }: Tables, keepMs: number) {
    this.#accounts = accounts;
    this.#limits = limits;
    this.#usage = usage;
    this.#rollUp = rollUp;
    this.#keepMs = keepMs;
    const select = "SELECT id, part FROM infergate_entry WHERE account = ? AND";
    this.#outdated = connection.prepare(
      `${select} at < ? AND (part <> -2 OR at < ?) ORDER BY at LIMIT ${rowsPerPurge}`,
    );
    this.#ofAccount = connection.prepare(`${select} sequence <= ? LIMIT ${rowsPerForgetting}`);
    this.#delete = connection.prepare("DELETE FROM infergate_entry WHERE id = ? AND part = ?");
    this.#deleteHolds = connection.prepare("DELETE FROM infergate_entry WHERE account = ? AND sequence IS NULL");
    this.#horizon = connection.prepare("SELECT value FROM infergate_meta WHERE name = 'forgotten_until'");
    this.#putHorizon = connection.prepare("REPLACE INTO infergate_meta VALUES ('forgotten_until', ?)");
  }

  /** Whatever was written at this moment or later is still here, unless its account was forgotten. */
  get forgottenUntil(): number {
    const row = this.#horizon.get() as { value: unknown } | null | undefined;
    return row ? toNumber(row.value) : Number.NEGATIVE_INFINITY;
  }

  /** As {@link forgottenUntil}; `undefined` where nothing was forgotten yet. */
  get keptFrom(): number | undefined {
    const at = this.forgottenUntil;
    return at === Number.NEGATIVE_INFINITY ? undefined : at;
  }

  /** Sums up some of the entries of an account, and deletes some of what is too old. No entry goes before it is summed. */
  purge(account: string, now: number): void {
    this.#usage.purge(account, now);
    this.#rollUp.purge(account);
    if (this.#usage.isBehind(account)) this.#usage.sumUp(account);
    const until = now - this.#keepMs;
    const outdated = this.#outdated.all(account, until, now - topUpKeptMs);
    if (outdated.length === 0 || !this.#usage.sumUp(account)) return;
    this.#rollUp.keepFrom(until);
    this.#deleteAll(outdated);
    // Kept for good: the clock may be put back, and what was deleted is not known again by that.
    if (until > this.forgottenUntil) this.#putHorizon.run(until);
  }

  /**
   * Deletes all but the entries: also the holds that expired so long ago that none may be settled any more. @returns
   * the newest one's sequence.
   */
  forgetState(accountId: string, now: number): number {
    const account = this.#accounts.get(accountId);
    if (!account) return 0;
    this.#deleteHolds.run(accountId);
    this.#limits.forget(accountId);
    this.#usage.forgetNewest(accountId, now);
    this.#rollUp.forgetOlder(accountId);
    this.#accounts.put({ ...newAccount(accountId), sequence: account.sequence });
    return account.sequence;
  }

  /** Forgets some entries, and after the last one the account. What has come up meanwhile is a new account's. */
  forgetEntries(accountId: string, sequence: number): boolean {
    if (this.#deleteAll(this.#ofAccount.all(accountId, sequence)) === rowsPerForgetting) return true;
    const account = this.#accounts.get(accountId);
    const isUntouched = account?.sequence === sequence && account.month === noInstances.month;
    if (isUntouched) this.#accounts.delete(accountId);
    return false;
  }

  #deleteAll(rows: readonly unknown[]): number {
    for (const { id, part } of rows as { id: string; part: number }[]) this.#delete.run(id, toNumber(part));
    return rows.length;
  }
}
