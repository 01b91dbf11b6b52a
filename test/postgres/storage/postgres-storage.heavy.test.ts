import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Clock } from "../../../src/ledger/clock.js";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { dayMs, windowLimits } from "../../../src/ledger/windows.js";
import { PostgresStorage } from "../../../src/postgres/storage/postgres-storage.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
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

  it("rolls up what all accounts have used, and gives the same sums before and after", async () => {
    const schema = "rolled";
    await createShiftedSchema(pool, schema);
    await createStorage(pool, schema);
    const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 30));
    const storage = new MeasuredStorage(shiftedPool(pool, schema, clock), schema, pool);
    const ledger = storageCreditLedger(storage, { clock, retentionMs: 10 * dayMs });
    const spend = async (account: string, call: number) => {
      const limits = windowLimits({
        credits: { session: null, week: null, month: null },
        sessionMs: 1,
        now: clock.now(),
      });
      const reserved = await ledger.reserve({
        id: `${account}-${call}`,
        account,
        amountMicro: 1,
        limits,
        leaseMs: 60_000,
      });
      const tags = { model: `m${call % 3}`, plan: "p", keyId: account, input: call, "tag.team": `t${call % 2}` };
      if (reserved.ok) await ledger.settle(reserved.lease, { amountMicro: call, tags });
    };
    const from = Math.floor(clock.now() / dayMs) * dayMs;
    const totals = async (to: number) => {
      const asked = [[], ["model"], ["tag.team", "plan"], ["funding", "target"]];
      const periods = [from, from + dayMs / 2, from + dayMs, from + 1.5 * dayMs, to];
      return Promise.all(asked.map(async (by) => ledger.totals?.({ periods, by, where: {} })));
    };
    for (let call = 1; call <= 30; call++) {
      for (const account of ["a", "b", "c"]) await spend(account, call);
      clock.advance(dayMs / 12);
    }
    const to = from + 4 * dayMs;
    const before = await totals(to);
    expect(before[0]?.map(({ requests }) => requests)).toEqual([6, 18, 18, 48]);
    const rows = async () => {
      const { rows: found } = await pool.query(`select count(*)::int as count from ${schema}.kept_sum_all`);
      return found[0].count;
    };
    await ledger.sweep?.();
    expect(await rows()).toBe(30);
    expect(await totals(to)).toEqual(before);
    // The clock is put back: what comes then is of a time that is rolled up.
    clock.advance(-dayMs);
    await spend("a", 100);
    expect((await totals(to))[0]?.map(({ requests }) => requests)).toEqual([6, 18, 18, 49]);
    clock.advance(dayMs);
    await ledger.forget("a");
    expect((await totals(to))[0]?.map(({ requests }) => requests)).toEqual([4, 12, 12, 32]);
    expect((await totals(to))[1]?.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)).toBe(2 * 465);
    // Days outlive their quarters.
    clock.advance(11 * dayMs);
    await ledger.sweep?.();
    expect(await rows()).toBe(0);
    const days = await ledger.totals?.({ periods: [from, from + dayMs, from + 5 * dayMs], by: ["model"], where: {} });
    expect(days?.reduce((sum, { requests }) => sum + requests, 0)).toBe(60);
  });

  const ledgerOn = (clock: Clock) =>
    storageCreditLedger(new PostgresStorage(shiftedPool(pool, "kept", clock), "kept"), { clock, retentionMs });

  describeCreditLedger("a ledger over PostgreSQL", ledgerOn, { holds: 1_000, limits: true });
  describeCreditLedgerModel("a ledger over PostgreSQL", ledgerOn, { runs: 10 });
});
