// The ledger's own suite on node:sqlite, for the runner of Node itself.
import { DatabaseSync } from "node:sqlite";
import { sqliteCreditLedger } from "infergate/sqlite";
import { describeCreditLedger } from "infergate/testing";

const database = new DatabaseSync(":memory:");
describeCreditLedger("node:sqlite", (clock) => sqliteCreditLedger({ database, clock }), { limits: true });
