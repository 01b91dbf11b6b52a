import { afterAll } from "vitest";
import { sqliteCreditLedger } from "../../src/sqlite/sqlite-credit-ledger.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { DatabaseFolder } from "./open-database.js";

const folder = new DatabaseFolder();
const database = folder.open();
afterAll(() => folder.remove());

describeCreditLedgerModel("sqliteCreditLedger", (clock) => sqliteCreditLedger({ database, clock }), { runs: 50 });
