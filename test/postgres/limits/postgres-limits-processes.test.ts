import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { capBounds, windowLimits } from "../../../src/ledger/windows.js";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { bundled } from "../../support/bundled.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { journalOf } from "../journal-of.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";

const hammer = fileURLToPath(new URL("../fixtures/limits-hammer.ts", import.meta.url));
const processes = 4;
const calls = 1_000;
const bought = 10_000;
const schema = "limits_of_processes";
const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 30));
const credits = { session: null, week: null, month: null };

interface Result {
  admitted: number;
  prepaid: number;
  capped: number;
}

describeWithPostgres("PostgreSQL, limits shared by several processes", (server) => {
  let pool: pg.Pool;
  let ledger: CreditLedger;
  let results: Result[];
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    await createShiftedSchema(pool, schema);
    ledger = postgresCreditLedger({ pool: shiftedPool(pool, schema, clock), schema });
    await ledger.topUp?.({ id: "bought", account: "prepaid", amountMicro: bought });
    const args = [await bundled(hammer), server.url, schema, clock.now(), calls / processes].map(String);
    const runs = Array.from({ length: processes }, () => promisify(execFile)(process.execPath, args));
    results = (await Promise.all(runs)).map(({ stdout }) => JSON.parse(stdout));
  }, 120_000);
  afterAll(() => pool.end());

  const total = (member: keyof Result) => results.reduce((sum, result) => sum + result[member], 0);
  const limits = () => windowLimits({ credits, sessionMs: 3_600_000, now: clock.now() });

  it("admit exactly the requests of a minute", () => {
    expect(total("admitted")).toBe(100);
  });

  it("take from prepaid credits what was charged, and overdraw them by less than one request", async () => {
    const { prepaid } = await ledger.balance("prepaid", limits());
    expect(prepaid).toMatchObject({ balanceMicro: bought - total("prepaid"), heldMicro: 0 });
    expect(total("prepaid")).toBeGreaterThanOrEqual(bought);
    expect(total("prepaid")).toBeLessThan(bought + 100);
    const entries = await journalOf(ledger, "prepaid");
    const charged = entries.filter(({ kind }) => kind === "charge").reduce((sum, entry) => sum + entry.amountMicro, 0);
    expect(charged).toBe(total("prepaid"));
  });

  it("count in a cap what was charged, and exceed it by less than one request", async () => {
    const bounds = capBounds("total", undefined, clock.now());
    const { caps, windows } = await ledger.balance("capped", limits(), {
      caps: [{ id: "total", window: "total", limitMicro: bought, bounds }],
    });
    expect(caps).toMatchObject([{ usedMicro: total("capped"), heldMicro: 0 }]);
    expect(windows.month.usedMicro).toBe(total("capped"));
    expect(total("capped")).toBeLessThan(bought + 100);
  });
});
