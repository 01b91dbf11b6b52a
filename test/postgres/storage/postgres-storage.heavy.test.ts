import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../../src/ledger/clock.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { ledgerOver } from "../../ledger/storage/storage-fixture.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";
import { createStorageTables, PostgresBooks } from "./storage-books.js";

describeWithPostgres("PostgreSQL", (server) => {
  let pool: pg.Pool;

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url, max: 8 });
    await createShiftedSchema(pool, "kept");
    await createStorageTables(pool, "kept");
  });
  afterAll(() => pool.end());

  const ledgerOn = (clock: Clock) => ledgerOver(clock, new PostgresBooks(shiftedPool(pool, "kept", clock), "kept"));

  describeCreditLedger("a ledger over PostgreSQL", ledgerOn, { holds: 1_000, limits: true });
  describeCreditLedgerModel("a ledger over PostgreSQL", ledgerOn, { runs: 10 });
});
