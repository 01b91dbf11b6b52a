import { describe, expect, it } from "vitest";
import type { SqliteDatabase } from "../../src/sqlite/sqlite-database.js";
import { sqliteStores } from "../../src/sqlite/sqlite-stores.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { databaseFolders } from "../sqlite/database-folders.js";
import { drivers } from "../sqlite/open-database.js";
import { busy, limitsOf } from "./books.js";
import { commitsOf, readDump } from "./dump.js";
import { expectBooks } from "./expect-books.js";

const newFolder = databaseFolders();

/** What a database consists of. The text of a table is not the same where a column was added later. */
function catalogOf(database: SqliteDatabase): unknown[] {
  const columns = database.prepare(
    `SELECT t.name AS relation, c.* FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table'
     ORDER BY t.name, c.cid`,
  );
  const rest = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type <> 'table' ORDER BY name");
  return [...columns.all(), ...rest.all()];
}

describe.each(Object.entries(drivers))("SQLite, books that earlier versions have left: %s", (_, driver) => {
  it.each(commitsOf("sqlite"))("are taken on: %s", async (commit) => {
    const database = newFolder(driver).open();
    const { text, books } = readDump(commit, "sqlite");
    database.exec(`BEGIN; ${text} COMMIT`);
    const stores = sqliteStores({ database, clock: new ManualClock(books.at) });
    const { keys, plans, ledger, accounts, responses, budgets, catalog } = stores;
    await expectBooks({ keys, plans, ledger, accounts, responses, budgets, catalog }, books);
    await ledger.close();
  });

  it.each(commitsOf("sqlite"))("end up in the tables that a new database has: %s", (commit) => {
    const [database, fresh] = [newFolder(driver).open(), newFolder(driver).open()];
    database.exec(`BEGIN; ${readDump(commit, "sqlite").text} COMMIT`);
    for (const each of [database, fresh]) sqliteStores({ database: each });
    expect(catalogOf(database)).toEqual(catalogOf(fresh));
  });

  it("have sums of days that began without hours", async () => {
    const database = newFolder(driver).open();
    const { text, books } = readDump("e2be7b5", "sqlite");
    database.exec(`BEGIN; ${text} COMMIT`);
    const clock = new ManualClock(books.at);
    const { ledger } = sqliteStores({ database, clock });
    clock.advance(86_400_000);
    // So many that the day before is summed up as a whole.
    for (let n = 0; n < 300; n++) {
      const request = { id: `next ${n}`, account: busy, amountMicro: 1, limits: limitsOf(busy, clock.now()) };
      const result = await ledger.reserve({ ...request, leaseMs: 60_000 });
      if (result.ok) await ledger.settle(result.lease, { amountMicro: 1 });
    }
    const sums = await ledger.usage?.({ account: busy, by: ["day"] });
    expect(sums?.map(({ requests, chargedMicro }) => ({ requests, chargedMicro }))).toEqual([
      { requests: 300, chargedMicro: 300 },
      { requests: 300, chargedMicro: 300 },
    ]);
  });
});
