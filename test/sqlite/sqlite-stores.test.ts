import { afterAll } from "vitest";
import { sqliteCreditLedger } from "../../src/sqlite/sqlite-credit-ledger.js";
import { sqliteKeyStore } from "../../src/sqlite/sqlite-key-store.js";
import { sqlitePlanStore } from "../../src/sqlite/sqlite-plan-store.js";
import { describeCreditLedger } from "../contracts/credit-ledger.js";
import { describeWritableKeyStore } from "../contracts/writable-key-store.js";
import { describeWritablePlanStore } from "../contracts/writable-plan-store.js";
import { DatabaseFolder } from "./open-database.js";

const folder = new DatabaseFolder();
const [database, other] = [folder.open(), folder.open()];
afterAll(() => folder.remove());

describeCreditLedger("sqliteCreditLedger", (clock) => sqliteCreditLedger({ database, clock }));
describeWritableKeyStore("sqliteKeyStore", async () => [
  sqliteKeyStore({ database }),
  sqliteKeyStore({ database: other }),
]);
describeWritablePlanStore("sqlitePlanStore", async () => [
  sqlitePlanStore({ database }),
  sqlitePlanStore({ database: other }),
]);
