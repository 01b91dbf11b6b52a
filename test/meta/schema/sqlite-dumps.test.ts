import { describe, expect, it } from "vitest";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { databaseFolders } from "../../contract/sqlite/database-folders.js";
import { drivers } from "../../contract/sqlite/open-database.js";
import { readDump, releases } from "./dump.js";
import { dumpSqlite } from "./dump-sqlite.js";
import { expectBooks } from "./expect-books.js";
import { writeBooks } from "./write-books.js";

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

describe.each(Object.entries(drivers))("SQLite, books that a version has left: %s", (_, driver) => {
  async function dumpOfToday() {
    const database = newFolder(driver).open();
    const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 31));
    const stores = sqliteStores({ database, clock });
    const books = await writeBooks(stores, { now: () => clock.now(), pass: (ms) => clock.advance(ms) });
    await stores.ledger.close();
    return { text: dumpSqlite(database), books };
  }

  it.each(["today", ...releases()])("are taken on: %s", async (release) => {
    const { text, books } = release === "today" ? await dumpOfToday() : readDump(release, "sqlite");
    const [database, fresh] = [newFolder(driver).open(), newFolder(driver).open()];
    database.exec(`BEGIN; ${text} COMMIT`);
    const stores = sqliteStores({ database, clock: new ManualClock(books.at) });
    sqliteStores({ database: fresh });
    expect(catalogOf(database)).toEqual(catalogOf(fresh));
    await expectBooks(stores, books);
    await stores.ledger.close();
  });
});
