import { dayMs } from "../../../ledger/calendar.js";
import { runtime } from "../../../runtime/this-runtime.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";

const forgottenKeptMs = dayMs;

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
    this.#purge.run(now - forgottenKeptMs);
  }
}

/** A day more than the journal keeps the top-up itself at least. */
const claimsKeptMs = 32 * dayMs;
const rowsPerPurge = 64;

/**
 * To which accounts the ids of top-ups and deductions belong, for a ledger of several: the account itself may be in another
 * database. It is known by a digest, since that database forgets it.
 */
export class TopUpClaims {
  readonly #get: SqliteStatement;
  readonly #put: SqliteStatement;
  readonly #purge: SqliteStatement;

  constructor(connection: SqliteConnection) {
    this.#get = connection.prepare("SELECT account FROM infergate_top_up_claim WHERE id = ?");
    this.#put = connection.prepare(`
      INSERT INTO infergate_top_up_claim (id, account, at) VALUES (?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET at = max(at, excluded.at)`);
    this.#purge = connection.prepare(`
      DELETE FROM infergate_top_up_claim WHERE id IN (
        SELECT id FROM infergate_top_up_claim WHERE at < ? ORDER BY at LIMIT ${rowsPerPurge}
      )`);
  }

  /** Whether another account has claimed the id. `undefined`: none has. */
  isOfOther(id: string, account: string): boolean | undefined {
    const row = this.#get.get(id) as { account: string } | null | undefined;
    return row ? row.account !== digest(account) : undefined;
  }

  put(id: string, account: string, now: number): void {
    this.#purge.run(now - claimsKeptMs);
    this.#put.run(id, digest(account), now);
  }
}

function digest(account: string): string {
  return runtime.sha256(account, "base64url");
}
