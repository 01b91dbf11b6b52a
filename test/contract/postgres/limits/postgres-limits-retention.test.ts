import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { capBounds, windowLimits } from "../../../../src/ledger/calendar.js";
import { postgresCreditLedger } from "../../../../src/stores/postgres/postgres-credit-ledger.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";

const day = 86_400_000;
const account = "a";
const schema = "limits_retention";
const credits = { session: null, week: null, month: null };

describeWithPostgres("PostgreSQL, what becomes of limits that are over", (server) => {
  const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 30));
  let pool: pg.Pool;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    await createShiftedSchema(pool, schema);
  });
  afterAll(() => pool.end());

  /** Another process: its retention is due at its first operation. */
  const open = () => postgresCreditLedger({ pool: shiftedPool(pool, schema, clock), schema, retentionMs: day });

  async function purge(): Promise<void> {
    const ledger = open();
    await ledger.reset("somebody", ["week"]);
    await ledger.close();
  }

  async function rows(table: "cap" | "bucket" | "top_up"): Promise<number> {
    return (await pool.query(`select from ${schema}.${table}`)).rowCount ?? 0;
  }

  it("goes a day after their end, but for totals and what is held; top-ups are known for 31 days", async () => {
    const ledger = open();
    const limits = windowLimits({ credits, sessionMs: 3_600_000, now: clock.now() });
    const caps = (["day", "total"] as const).map((window) => ({
      ...{ id: window, window, limitMicro: 100, bounds: capBounds(window, undefined, clock.now()) },
    }));
    const rates = [
      { id: "requests", kind: "requests", take: 1, limit: 10, burst: 10 } as const,
      { id: "concurrent", kind: "concurrent", take: 1, limit: 10, burst: 10 } as const,
    ];
    await ledger.topUp?.({ id: "bought", account, amountMicro: 5 });
    const request = { id: "r", account, amountMicro: 10, limits, leaseMs: 60_000, caps, rates };
    const result = await ledger.reserve(request);
    if (!result.ok) throw new Error("Nothing is used up here.");
    await purge();
    expect([await rows("cap"), await rows("bucket")]).toEqual([2, 2]);
    // The hold is due, but nothing on its account has ended it yet.
    clock.advance(4 * day);
    await purge();
    expect([await rows("cap"), await rows("bucket")]).toEqual([2, 1]);

    await ledger.settle(result.lease, { amountMicro: 10 });
    await ledger.close();
    await purge();
    expect(await rows("cap")).toBe(1);
    const later = windowLimits({ credits, sessionMs: 3_600_000, now: clock.now() });
    const { caps: left } = await open().balance(account, later, { caps: caps.slice(1) });
    expect(left).toMatchObject([{ usedMicro: 10 }]);

    clock.advance(26 * day);
    await purge();
    expect([await rows("bucket"), await rows("top_up")]).toEqual([0, 1]);
    expect(await open().topUp?.({ id: "bought", account, amountMicro: 5 })).toMatchObject({ balanceMicro: 5 });
    clock.advance(2 * day);
    await purge();
    expect(await rows("top_up")).toBe(0);
  });
});
