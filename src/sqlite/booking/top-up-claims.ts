import { runtime } from "#runtime";
import { LedgerConflictError } from "../../ledger/credit-ledger.js";
import { dayMs } from "../../ledger/windows.js";
import type { JournalTable } from "../journal-table.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement } from "../sqlite-database.js";

/** A day more than the journal keeps the top-up itself at least. */
const keptMs = 32 * dayMs;
const rowsPerPurge = 64;

/**
 * To which accounts the ids of top-ups and deductions belong, for a ledger of several: the account itself may be in another
 * database. It is known by a digest, since that database forgets it.
 */
export class TopUpClaims {
  readonly #journal: JournalTable;
  readonly #get: SqliteStatement;
  readonly #put: SqliteStatement;
  readonly #purge: SqliteStatement;

  constructor(connection: SqliteConnection, journal: JournalTable) {
    this.#journal = journal;
    this.#get = connection.prepare("SELECT account FROM infergate_top_up_claim WHERE id = ?");
    this.#put = connection.prepare(`
      INSERT INTO infergate_top_up_claim (id, account, at) VALUES (?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET at = max(at, excluded.at)`);
    this.#purge = connection.prepare(`
      DELETE FROM infergate_top_up_claim WHERE id IN (
        SELECT id FROM infergate_top_up_claim WHERE at < ? ORDER BY at LIMIT ${rowsPerPurge}
      )`);
  }

  /** @throws LedgerConflictError where it is another account's. */
  claim(id: string, account: string, now: number): void {
    this.#purge.run(now - keptMs);
    const own = digest(account);
    const row = this.#get.get(id) as { account: string } | null | undefined;
    const holder = row?.account ?? ofTopUp(this.#journal.prepaidChange(id));
    if (holder !== undefined && holder !== own) {
      throw new LedgerConflictError(`${id} was used before with another account.`);
    }
    this.#put.run(id, own, now);
  }
}

function ofTopUp(change: { readonly account: string } | undefined): string | undefined {
  return change && digest(change.account);
}

function digest(account: string): string {
  return runtime.sha256(account, "base64url");
}
