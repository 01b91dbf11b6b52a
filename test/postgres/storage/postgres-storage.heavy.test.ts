import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../../src/ledger/clock.js";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { PostgresStorage } from "../../../src/postgres/storage/postgres-storage.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { describeStorageCare } from "../../ledger/storage/describe-storage-care.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";
import { createStorage, MeasuredStorage } from "./create-storage.js";

/** Never reached: the clocks of these suites start anew, but what a schema has dropped it has dropped for all. */
const retentionMs = 50 * 365 * 86_400_000;

describeWithPostgres("PostgreSQL", (server) => {
  let pool: pg.Pool;

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url, max: 8 });
    await createShiftedSchema(pool, "kept");
    await createStorage(pool, "kept");
  });
  afterAll(() => pool.end());

  let schemas = 0;
  describeStorageCare("a storage in PostgreSQL", async (clock) => {
    const schema = `cared_${++schemas}`;
    await createShiftedSchema(pool, schema);
    await createStorage(pool, schema);
    return new MeasuredStorage(shiftedPool(pool, schema, clock), schema, pool);
  });

  const ledgerOn = (clock: Clock) =>
    storageCreditLedger(new PostgresStorage(shiftedPool(pool, "kept", clock), "kept"), { clock, retentionMs });

  describeCreditLedger("a ledger over PostgreSQL", ledgerOn, { holds: 1_000, limits: true });
  describeCreditLedgerModel("a ledger over PostgreSQL", ledgerOn, { runs: 10 });
});
