import { afterAll } from "vitest";
import { sqliteCreditLedger } from "../../src/sqlite/sqlite-credit-ledger.js";
import { describeCreditLedger } from "../../src/testing/describe-credit-ledger.js";
import { DatabaseFolder } from "../sqlite/open-database.js";

// The records in memory are changed where they are kept. Only a store that writes them shows what the engine forgets to say.
const folder = new DatabaseFolder();
const database = folder.open();
afterAll(() => folder.remove());

describeCreditLedger("sqliteCreditLedger", (clock) => sqliteCreditLedger({ database, clock }), {
  holds: 100,
  limits: true,
});
