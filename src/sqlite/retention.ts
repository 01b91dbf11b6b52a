import { toNumber } from "./numbers.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { SqliteStatement } from "./sqlite-database.js";

const rowsPerStep = 64;

/** Ends the life of entries, a few at a time. */
export class Retention {
  readonly #keepMs: number;
  readonly #outdated: SqliteStatement;
  readonly #ofAccount: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #deleteHolds: SqliteStatement;
  readonly #horizon: SqliteStatement;
  readonly #putHorizon: SqliteStatement;

  constructor(connection: SqliteConnection, keepMs: number) {
    this.#keepMs = keepMs;
    const select = "SELECT id, part FROM infergate_entry WHERE account = ? AND";
    this.#outdated = connection.prepare(`${select} at < ? ORDER BY at LIMIT ${rowsPerStep}`);
    this.#ofAccount = connection.prepare(
      `${select} at IS NOT NULL AND (sequence <= ? OR sequence IS NULL) LIMIT ${rowsPerStep}`,
    );
    this.#delete = connection.prepare("DELETE FROM infergate_entry WHERE id = ? AND part = ?");
    this.#deleteHolds = connection.prepare("DELETE FROM infergate_entry WHERE account = ? AND at IS NULL");
    this.#horizon = connection.prepare("SELECT value FROM infergate_meta WHERE name = 'forgotten_until'");
    this.#putHorizon = connection.prepare("REPLACE INTO infergate_meta VALUES ('forgotten_until', ?)");
  }

  /** Whatever was written at this moment or later is still here, unless its account was forgotten. */
  get forgottenUntil(): number {
    const row = this.#horizon.get() as { value: unknown } | null | undefined;
    return row ? toNumber(row.value) : Number.NEGATIVE_INFINITY;
  }

  /** Deletes some of what an account has that is too old. */
  purge(account: string, now: number): void {
    const until = now - this.#keepMs;
    if (this.#deleteAll(this.#outdated.all(account, until)) === 0) return;
    // Kept for good: the clock may be put back, and what was deleted is not known again by that.
    if (until > this.forgottenUntil) this.#putHorizon.run(until);
  }

  /** Deletes what an account holds. */
  deleteHolds(account: string): void {
    this.#deleteHolds.run(account);
  }

  /** Deletes some of an account's entries up to one, and of the holds that died. @returns whether there may be more. */
  deleteEntries(account: string, upTo: number): boolean {
    return this.#deleteAll(this.#ofAccount.all(account, upTo)) === rowsPerStep;
  }

  #deleteAll(rows: readonly unknown[]): number {
    for (const { id, part } of rows as { id: string; part: number }[]) this.#delete.run(id, toNumber(part));
    return rows.length;
  }
}
