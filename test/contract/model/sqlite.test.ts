import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { DatabaseFolder } from "../sqlite/open-database.js";
import { describeModelRun } from "./model-run.js";

describeModelRun("sqlite", () => {
  const folder = new DatabaseFolder();
  const database = folder.open();
  return { make: (clock) => sqliteCreditLedger({ database, clock }), remove: () => folder.remove() };
});
