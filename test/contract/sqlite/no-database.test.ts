import { expect, it } from "vitest";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { sqliteKeyStore, sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";

it.each<[string, unknown]>([
  ["a path in its place", { database: "gateway.db" }],
  ["a path in the place of the options", "gateway.db"],
  ["no database", {}],
  ["a client of another kind", { database: { query: () => [] } }],
])("what needs a database says so when it gets %s", (_name, given) => {
  for (const make of [sqliteStores, sqliteCreditLedger, sqliteKeyStore]) {
    expect(() => make(given as never)).toThrow(/`database` must be an open database, such as new Database\(file\)/);
  }
});
