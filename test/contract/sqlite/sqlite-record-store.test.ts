import { afterAll } from "vitest";
import { SqliteConnection } from "../../../src/stores/sqlite/sqlite-connection.js";
import { SqliteRecordStore } from "../../../src/stores/sqlite/sqlite-record-store.js";
import { describeRecordStore } from "../contracts/describe-record-store.js";
import { DatabaseFolder, drivers } from "./open-database.js";

for (const [name, driver] of Object.entries(drivers)) {
  const folder = new DatabaseFolder(driver);
  const [database, other] = [folder.open(), folder.open()];
  afterAll(() => folder.remove());
  describeRecordStore(`SqliteRecordStore on ${name}`, () => [
    new SqliteRecordStore(new SqliteConnection({ database })),
    new SqliteRecordStore(new SqliteConnection({ database: other })),
  ]);
}
