import { dayMs } from "../ledger/windows.js";
import { runtime } from "../runtime/this-runtime.js";
import { toNumber } from "./numbers.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { SqliteStatement } from "./sqlite-database.js";

const keptMs = dayMs;

/** When accounts were forgotten: for a day, and without their names. */
export class ForgottenAccounts {
  readonly #get: SqliteStatement;
  readonly #put: SqliteStatement;
  readonly #purge: SqliteStatement;

  constructor(connection: SqliteConnection) {
    this.#get = connection.prepare("SELECT at FROM infergate_forgotten WHERE digest = ?");
    this.#put = connection.prepare(`
      INSERT INTO infergate_forgotten (digest, at) VALUES (?, ?)
      ON CONFLICT (digest) DO UPDATE SET at = max(at, excluded.at)`);
    this.#purge = connection.prepare("DELETE FROM infergate_forgotten WHERE at < ?");
  }

  /** `-Infinity` where nothing is known of it. */
  at(account: string): number {
    const row = this.#get.get(digest(account)) as { at: unknown } | null | undefined;
    return row ? toNumber(row.at) : Number.NEGATIVE_INFINITY;
  }

  add(account: string, now: number): void {
    this.#put.run(digest(account), now);
  }

  purge(now: number): void {
    this.#purge.run(now - keptMs);
  }
}

function digest(account: string): string {
  return runtime.sha256(account, "base64url");
}
