import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "../postgres/test-schema.js";
import { describeModelRun } from "./model-run.js";

/** Never reached: each history has a clock of its own, but what a schema has dropped it has dropped for all. */
const retentionMs = 50 * 365 * 86_400_000;
const schema = "model";

describeWithPostgres("the model run", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 8 });
  });
  afterAll(() => pool?.end());

  describeModelRun("postgres", async () => {
    await createShiftedSchema(pool, schema);
    return {
      make: (clock) => postgresCreditLedger({ pool: shiftedPool(pool, schema, clock), schema, retentionMs }),
      remove: () => pool.query(`drop schema ${schema} cascade`),
    };
  });
});
