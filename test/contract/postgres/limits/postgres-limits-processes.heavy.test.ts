import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../../src/stores/postgres/postgres-credit-ledger.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { bundled } from "../../../support/bundled.js";
import type { Hammered } from "../../../support/hammer-limits.js";
import { buyPrepaid, hammering, itKeepsLimitsOfProcesses } from "../../../support/limits-of-processes.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";

const hammer = fileURLToPath(new URL("../fixtures/limits-hammer.ts", import.meta.url));
const { processes, calls } = hammering;
const schema = "limits_of_processes";
const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 30));

describeWithPostgres("PostgreSQL, limits shared by several processes", (server) => {
  let pool: pg.Pool;
  let ledger: CreditLedger;
  let results: Hammered[];
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    await createShiftedSchema(pool, schema);
    ledger = postgresCreditLedger({ pool: shiftedPool(pool, schema, clock), schema });
    await buyPrepaid(ledger);
    const args = [await bundled(hammer), server.url, schema, clock.now(), calls / processes].map(String);
    const runs = Array.from({ length: processes }, () => promisify(execFile)(process.execPath, args));
    results = (await Promise.all(runs)).map(({ stdout }) => JSON.parse(stdout));
  }, 120_000);
  afterAll(() => pool.end());

  itKeepsLimitsOfProcesses(() => ({ ledger, now: clock.now(), results }));
});
