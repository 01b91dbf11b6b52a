import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe } from "vitest";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { start } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { bundled } from "../../../support/bundled.js";
import type { Hammered } from "../../../support/hammer-limits.js";
import { buyPrepaid, hammering, itKeepsLimitsOfProcesses } from "../../../support/limits-of-processes.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { ledgerAt, RedisTest } from "../redis-test.js";

const hammer = fileURLToPath(new URL("../fixtures/limits-hammer.ts", import.meta.url));
const { processes, calls } = hammering;

describe.runIf(hasRedisServer)("Redis, limits shared by several processes", () => {
  let test: RedisTest;
  let ledger: CreditLedger;
  let results: Hammered[];
  beforeAll(async () => {
    test = await RedisTest.start();
    ledger = ledgerAt(new ManualClock(start), test.client);
    await buyPrepaid(ledger);
    const args = [await bundled(hammer), test.server.port, start, calls / processes].map(String);
    const runs = Array.from({ length: processes }, () => promisify(execFile)(process.execPath, args));
    results = (await Promise.all(runs)).map(({ stdout }) => JSON.parse(stdout));
  }, 120_000);
  afterAll(() => test.stop());

  itKeepsLimitsOfProcesses(() => ({ ledger, now: start, results }));
});
