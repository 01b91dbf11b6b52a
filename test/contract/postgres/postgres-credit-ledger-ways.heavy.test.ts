import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe } from "vitest";
import type { Clock } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { PostgresBatchOptions } from "../../../src/stores/postgres/ledger/account-queue.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { fromPostgresJs, type PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { hasPgBouncer, PgBouncer } from "../../support/pgbouncer.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { createShiftedSchema, shiftedPool } from "./test-schema.js";

/** Never reached: the clocks of these suites start anew, but what a schema has dropped it has dropped for all. */
const retentionMs = 50 * 365 * 86_400_000;

function ledgerOn(driver: PostgresPool, clock: Clock, batch?: PostgresBatchOptions | false): CreditLedger {
  return postgresCreditLedger({ pool: shiftedPool(driver, "shifted", clock), schema: "shifted", retentionMs, batch });
}

/** Fails as a stricter isolation does, so that the procedures take over from the first operation on. */
function failing(inner: PostgresPool): PostgresPool {
  return {
    async query(text, values) {
      if (/^select (answer::text as json from shifted\.operate|shifted\.forget)\(/.test(text)) {
        throw Object.assign(new Error("could not serialize access"), { code: "40001" });
      }
      return inner.query(text, values);
    },
  };
}

// What operations are, the suites of the stores say. Here they go other ways, in which each must arrive as it was sent.
describeWithPostgres("PostgreSQL", (server) => {
  let pool: pg.Pool;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url, max: 8 });
    await createShiftedSchema(pool, "shifted");
  });
  afterAll(() => pool.end());

  describeCreditLedgerModel("postgresCreditLedger without batches", (clock) => ledgerOn(pool, clock, false), {
    runs: 4,
  });
  describeCreditLedgerModel(
    "postgresCreditLedger with the smallest batches",
    (clock) => ledgerOn(pool, clock, { operations: 1, inFlight: 1 }),
    { runs: 4 },
  );
  describeCreditLedgerModel(
    "postgresCreditLedger by the procedures that set the isolation",
    (clock) => ledgerOn(failing(pool), clock),
    { runs: 6 },
  );
});

describe.skipIf(!hasPgBouncer)("behind PgBouncer in transaction mode", () => {
  describeWithPostgres("PostgreSQL", (server) => {
    const bouncer = new PgBouncer();
    let pool: pg.Pool;
    let sql: postgres.Sql;
    beforeAll(async () => {
      await bouncer.start(server);
      // More connections than PgBouncer has to the server, so that no two statements need meet the same one.
      pool = new pg.Pool({ connectionString: bouncer.url, max: 16 });
      sql = postgres(bouncer.url, { max: 16 });
      await createShiftedSchema(pool, "shifted");
    });
    afterAll(async () => {
      await Promise.all([pool, sql].map((each) => each?.end()));
      await bouncer.stop();
    });

    describeCreditLedgerModel("postgresCreditLedger on pg", (clock) => ledgerOn(pool, clock), { runs: 4 });
    describeCreditLedgerModel("postgresCreditLedger on postgres.js", (clock) => ledgerOn(fromPostgresJs(sql), clock), {
      runs: 4,
    });
  });
});
