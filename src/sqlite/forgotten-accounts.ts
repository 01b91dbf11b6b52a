import { runtime } from "#runtime";
import { dayMs } from "../ledger/windows.js";
import { toNumber } from "./numbers.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { SqliteStatement } from "./sqlite-database.js";

const keptMs = dayMs;
const prefix = "forgotten ";

/**
 * When accounts were forgotten: for a day, and without their names. They are kept among the numbers that every release
 * leaves alone which does not know them.
 */
export class ForgottenAccounts {
  readonly #get: SqliteStatement;
  readonly #put: SqliteStatement;
  readonly #purge: SqliteStatement;

  constructor(connection: SqliteConnection) {
    this.#get = connection.prepare("SELECT value FROM infergate_meta WHERE name = ?");
    this.#put = connection.prepare(`
      INSERT INTO infergate_meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`);
    // What begins with the prefix, by the primary key.
    this.#purge = connection.prepare(
      "DELETE FROM infergate_meta WHERE name > 'forgotten ' AND name < 'forgotten!' AND value < ?",
    );
  }

  /** `-Infinity` where nothing is known of it. */
  at(account: string): number {
    const row = this.#get.get(nameOf(account)) as { value: unknown } | null | undefined;
    return row ? toNumber(row.value) : Number.NEGATIVE_INFINITY;
  }

  add(account: string, now: number): void {
    this.#put.run(nameOf(account), now);
  }

  purge(now: number): void {
    this.#purge.run(now - keptMs);
  }
}

function nameOf(account: string): string {
  return prefix + runtime.sha256(account, "base64url");
}
