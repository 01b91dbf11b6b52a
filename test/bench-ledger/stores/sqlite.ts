import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase, SqliteValue } from "../../../src/stores/sqlite/sqlite-database.js";
import type { OpenStore, Pair } from "../benched-store.js";
import { leaseMs, tags } from "../ledger-pair.js";

export const openSqlite: OpenStore = async () => {
  const folder = mkdtempSync(join(tmpdir(), "infergate-bench-"));
  const database = new Database(join(folder, "bench.db"));
  const ledger = sqliteCreditLedger({ database });
  return {
    ledger,
    // It has one writer, and waits for it.
    inFlight: 1,
    raw: rawPair(database),
    /** Of the account's row alone; a request's is counted with the journal. */
    async bytesPerAccount(accounts) {
      const copy = new Database(join(folder, "accounts.db"));
      try {
        copy.exec(`ATTACH '${join(folder, "bench.db")}' AS bench`);
        const [made] = copy.prepare("SELECT sql FROM bench.sqlite_schema WHERE name = 'infergate_account'").all();
        copy.exec((made as { sql: string }).sql);
        copy.exec("INSERT INTO main.infergate_account SELECT * FROM bench.infergate_account");
        const [pages] = copy
          .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
          .all();
        return (pages as { bytes: number }).bytes / accounts;
      } finally {
        copy.close();
      }
    },
    async close() {
      await ledger.close();
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Of an account. Some drivers add a member to rows. */
const columns = 18;

/** The statements of a pair in the ledger's tables, as the application's own code would have them. */
function rawPair(database: SqliteDatabase): Pair {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const account = database.prepare("SELECT * FROM infergate_account WHERE id = ?");
  const putAccount = database.prepare(`REPLACE INTO infergate_account VALUES (?${", ?".repeat(17)})`);
  const entry = database.prepare("SELECT * FROM infergate_entry WHERE id = ? AND part = 0");
  const putEntry = database.prepare(`INSERT INTO infergate_entry (
    id, part, account, kind, at, sequence, amount, session_start, week_start, month_start, tags, session_end, week_end,
    month_end, reserved, lease_expires_at, expires_at, checkpoint
  ) VALUES (?${", ?".repeat(17)})`);
  const endEntry = database.prepare(
    "UPDATE infergate_entry SET kind = ?, at = ?, sequence = ?, amount = ?, tags = ? WHERE id = ? AND part = 0",
  );
  const json = JSON.stringify(tags);

  return (accountId) => {
    const id = randomUUID();
    const now = Date.now();
    const row = () => Object.values((account.get(accountId) ?? {}) as Record<string, SqliteValue>).slice(0, columns);
    const empty: SqliteValue[] = [accountId, 1, now, now, now, 0, 0, 0, now, now, 0, 0, 0, now, now, 0, 0, 0];

    begin.run();
    const before = row();
    entry.get(id);
    putEntry.run(
      id,
      0,
      accountId,
      "hold",
      null,
      null,
      1_234_567,
      now,
      now,
      now,
      null,
      now,
      now,
      now,
      1_234_567,
      now + leaseMs,
      now + leaseMs,
      0,
    );
    putAccount.run(...(before.length === 0 ? empty : before));
    commit.run();

    begin.run();
    const after = row();
    entry.get(id);
    endEntry.run("charge", now, 1, 1_234_566, json, id);
    putAccount.run(...after);
    commit.run();
  };
}
