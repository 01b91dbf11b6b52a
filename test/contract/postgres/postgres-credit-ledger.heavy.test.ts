import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { fromPostgresJs } from "../../../src/stores/postgres/postgres-pool.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { createShiftedSchema, shiftedPool } from "./test-schema.js";

/** Never reached: the clocks of these suites start anew, but what a schema has dropped it has dropped for all. */
const retentionMs = 50 * 365 * 86_400_000;

describeWithPostgres("PostgreSQL", (server) => {
  let pool: pg.Pool;
  let sql: postgres.Sql;

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url, max: 8 });
    sql = postgres(server.url, { max: 8 });
    await createShiftedSchema(pool, "shifted");
  });
  afterAll(async () => {
    await pool.end();
    await sql.end();
  });

  const ledgerOn = (driver: PostgresPool, clock: Clock): CreditLedger =>
    postgresCreditLedger({ pool: shiftedPool(driver, "shifted", clock), schema: "shifted", retentionMs });

  describeCreditLedger("postgresCreditLedger on pg", (clock) => ledgerOn(pool, clock), { holds: 3_000, limits: true });
  describeCreditLedger("postgresCreditLedger on postgres.js", (clock) => ledgerOn(fromPostgresJs(sql), clock), {
    holds: 1_000,
    limits: true,
  });
  describeCreditLedgerModel("postgresCreditLedger", (clock) => ledgerOn(pool, clock), { runs: 10 });
});
