import { afterAll } from "vitest";
import { sqliteRequestLog } from "../../../src/stores/sqlite/sqlite-request-log.js";
import { describeRequestLog } from "../../../src/testing/request-log/describe-request-log.js";
import { DatabaseFolder, drivers } from "./open-database.js";

for (const [name, driver] of Object.entries(drivers)) {
  const folder = new DatabaseFolder(driver);
  const database = folder.open();
  afterAll(() => folder.remove());
  describeRequestLog(`sqliteRequestLog on ${name}`, (limits) => sqliteRequestLog({ database, ...limits }));
}
