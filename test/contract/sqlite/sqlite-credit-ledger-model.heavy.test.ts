import { afterAll } from "vitest";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { DatabaseFolder, drivers } from "./open-database.js";
import { summingLedger } from "./summing-ledger.js";

for (const [name, driver] of Object.entries(drivers)) {
  const folder = new DatabaseFolder(driver);
  const database = folder.open();
  afterAll(() => folder.remove());

  describeCreditLedgerModel(`sqliteCreditLedger on ${name}, summed up`, (clock) => summingLedger(database, clock), {
    runs: name === "libsql" ? 30 : 15,
  });
}
