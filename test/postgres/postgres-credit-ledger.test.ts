import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { postgresCreditLedger } from "../../src/postgres/postgres-credit-ledger.js";
import { describeCreditLedger } from "../contracts/credit-ledger.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { describeWithPostgres } from "../support/postgres-server.js";
import { shiftedSchema } from "./test-schema.js";

describeWithPostgres("postgresCreditLedger", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 8 });
  });
  afterAll(() => pool.end());
  describeCreditLedger("pg", async (clock) => postgresCreditLedger(await shiftedSchema(pool, clock)));
  describeCreditLedgerModel("pg", async (clock) => postgresCreditLedger(await shiftedSchema(pool, clock)), { runs: 60 });
});
