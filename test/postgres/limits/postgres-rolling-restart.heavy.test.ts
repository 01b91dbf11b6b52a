import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CreditLedger, Lease, ReserveRequest } from "../../../src/ledger/credit-ledger.js";
import { capBounds, windowLimits } from "../../../src/ledger/windows.js";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { loadEmptyPostgres } from "../../schema/load-postgres.js";
import { olderStores } from "../../schema/older-stores.js";
import { journalOf } from "../../support/journal-of.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { prepaidLeft } from "../../support/prepaid-left.js";
import { setTestClock, shiftedPool } from "../test-schema.js";

const now = Date.now();
const leaseMs = 60_000;
const total = {
  id: "key/total",
  window: "total",
  limitMicro: 1_000,
  bounds: capBounds("total", undefined, now),
} as const;
const tokens = { id: "key/tokens", kind: "tokens", take: 50, limit: 1, burst: 100 } as const;
const calls = { id: "key/calls", kind: "concurrent", take: 1, limit: 2, burst: 2 } as const;

/** What a process of the version before sends, and how it reads the answers. */
class OlderProcess {
  readonly #pool: pg.Pool;
  readonly #schema: string;

  constructor(pool: pg.Pool, schema: string) {
    this.#pool = pool;
    this.#schema = schema;
  }

  async operate(account: string, ...operations: object[]) {
    const { rows } = await this.#pool.query(
      `select answer::text as json from ${this.#schema}.operate($1::text::jsonb) as answer`,
      [JSON.stringify([{ account, operations }])],
    );
    return rows.map(({ json }) => JSON.parse(json));
  }

  async reserve({ id, account, amountMicro, limits, leaseMs }: ReserveRequest) {
    const { session, week, month } = limits;
    const ofWindows = [
      ...[session.limitMicro, session.lengthMs],
      ...[week.limitMicro, ...week.bounds],
      ...[month.limitMicro, ...month.bounds],
    ];
    const [answer] = await this.operate(account, {
      ...{ op: "reserve", id, amount: amountMicro, need: 1, leaseMs, limits: ofWindows },
    });
    return answer;
  }

  async settle({ id, account, amountMicro, expiresAt, starts, ends }: Lease, charge: number) {
    const [answer] = await this.operate(account, {
      ...{ op: "settle", id, kind: "charge", amount: amountMicro, charge, expiresAt, since: null },
      starts: [starts.session, starts.week, starts.month],
      ends: [ends.session, ends.week, ends.month],
    });
    return answer.status;
  }

  async balance(account: string) {
    const { rows } = await this.#pool.query(`select ${this.#schema}.balance($1)::text as json`, [account]);
    return JSON.parse(rows[0].json);
  }

  /** The starts that each entry names, as the version before reads them. */
  async startsInHistory(account: string): Promise<(number | null)[][]> {
    const { rows } = await this.#pool.query(
      `select to_jsonb(starts)::text as json from ${this.#schema}.entry where account = $1 order by at, sequence`,
      [account],
    );
    return rows.map(({ json }) => JSON.parse(json).slice(0, 3));
  }
}

describeWithPostgres("PostgreSQL, processes of two versions at a time", (server) => {
  const schema = "rolling";
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  const request = (account: string, amountMicro: number, week: number): ReserveRequest => ({
    ...{ id: randomUUID(), account, amountMicro, leaseMs },
    limits: windowLimits({ credits: { session: null, week, month: null }, sessionMs: 3_600_000, now }),
  });

  function leaseOf(request: ReserveRequest, answer: { lease: Record<string, never> }): Lease {
    const { amount, expiresAt, starts, ends } = answer.lease;
    const byWindow = ([session, week, month]: readonly number[] = []) => ({ session, week, month }) as Lease["starts"];
    const { id, account, limits } = request;
    return {
      id,
      account,
      limits,
      amountMicro: Number(amount),
      expiresAt: Number(expiresAt),
      starts: byWindow(starts),
      ends: byWindow(ends),
    };
  }

  it("keep the same books", async () => {
    // As the last version without caps and rates has made it.
    await loadEmptyPostgres(pool, schema, "f646de3");
    const older = new OlderProcess(pool, schema);
    const early = request("early", 30, 1_000);
    const earlyLease = leaseOf(early, await older.reserve(early));

    const ledger = postgresCreditLedger({ pool, schema });
    expect(await ledger.settle(earlyLease, { amountMicro: 20 })).toMatchObject({
      status: "settled",
      windows: { week: { usedMicro: 20, heldMicro: 0 } },
    });

    // Nothing is left in the week: only prepaid credits fund this.
    const account = "shared";
    await ledger.topUp?.({ id: "bought", account, amountMicro: 100 });
    const late = request(account, 40, 0);
    const answer = await older.reserve(late);
    expect(answer).toMatchObject({ status: "admitted", windows: [{ held: 0 }, { held: 0 }, { held: 0 }] });
    expect(await older.reserve(late)).toMatchObject({ status: "replayed", lease: { amount: 40 } });
    expect((await ledger.balance(account, late.limits)).prepaid).toMatchObject({ balanceMicro: 100, heldMicro: 40 });
    const [renewed] = await older.operate(account, { op: "renew", id: late.id, amount: 40, observed: 60, leaseMs });
    expect(renewed.status).toBe("renewed");
    expect((await ledger.balance(account, late.limits)).prepaid).toMatchObject({ balanceMicro: 100, heldMicro: 60 });
    expect(await older.settle(leaseOf(late, answer), 35)).toBe("settled");
    expect(await older.reserve(late)).toMatchObject({ status: "replayed", lease: { starts: answer.lease.starts } });
    expect((await ledger.balance(account, late.limits)).prepaid).toMatchObject({ balanceMicro: 65, heldMicro: 0 });
    expect((await older.balance(account)).windows).toMatchObject([{ used: 0 }, { used: 0 }, { used: 0 }]);
    expect(await older.startsInHistory(account)).toEqual(Array(2).fill([null, null, null]));
    expect((await journalOf(ledger, account)).map(({ kind, starts }) => ({ kind, starts }))).toEqual([
      { kind: "charge", starts: {} },
      { kind: "topup", starts: {} },
    ]);
  });

  it("end what the other has begun: caps and rates too", async () => {
    const account = "named";
    const ledger = postgresCreditLedger({ pool, schema });
    const older = new OlderProcess(pool, schema);
    const named = { caps: [total], rates: [tokens, calls] };
    const wanted = request(account, 30, 1_000);
    const result = await ledger.reserve({ ...wanted, ...named });
    if (!result.ok) throw new Error("Nothing is used up here.");
    await older.operate(account, { op: "renew", id: wanted.id, amount: 30, observed: 35, leaseMs });
    const held = await ledger.balance(account, wanted.limits, named);
    expect(held.caps).toMatchObject([{ usedMicro: 0, heldMicro: 35 }]);
    expect(held.rates?.[1]).toMatchObject({ remaining: 1 });
    expect(await older.settle(result.lease, 10)).toBe("settled");
    const ended = await ledger.balance(account, wanted.limits, named);
    expect(ended.caps).toMatchObject([{ usedMicro: 10, heldMicro: 0 }]);
    expect(ended.rates?.[1]).toMatchObject({ remaining: 2 });
    // It reports no tokens, so what was taken stays taken.
    expect(ended.rates?.[0]).toMatchObject({ remaining: 50 });
    expect((await older.balance(account)).windows).toMatchObject([{ used: 10 }, { used: 10 }, { used: 10 }]);
    await pool.query(`select ${schema}.forget($1, 1000)`, [account]);
    for (const table of ["cap", "bucket", "hold", "entry"]) {
      expect((await pool.query(`select from ${schema}.${table} where account = $1`, [account])).rowCount).toBe(0);
    }
  });

  it("take on what the version before has left, and leave what that understands", async () => {
    const before = "rolling_before";
    const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 31));
    const commit = "1bed546";
    await (await olderStores(commit, "postgres", { pool, schema: before })).plans.put({ id: "first", models: [] });
    await setTestClock(pool, before);
    const shifted = shiftedPool(pool, before, clock);
    const { ledger: older } = await olderStores(commit, "postgres", { pool: shifted, schema: before });
    const newer = postgresCreditLedger({ pool: shifted, schema: before });
    const limitsOf = (week: number) =>
      windowLimits({ credits: { session: null, week, month: null }, sessionMs: 3_600_000, now: clock.now() });
    const begin = async (ledger: CreditLedger, account: string, amountMicro: number, week = 0): Promise<Lease> => {
      const request = { id: randomUUID(), account, amountMicro, leaseMs, limits: limitsOf(week) };
      const result = await ledger.reserve(request);
      if (!result.ok) throw new Error("So much is there.");
      return result.lease;
    };
    await older.topUp?.({ id: "bought by older", account: "bought", amountMicro: 100 });
    const open = await begin(older, "bought", 40);
    const dead = await begin(older, "bought", 10);
    await older.renew([
      { lease: open, observedMicro: 0, leaseMs: 5 * leaseMs },
      { lease: dead, observedMicro: 5, leaseMs },
    ]);
    clock.advance(leaseMs);
    await older.release(await begin(older, "bought", 1));
    const planned = await begin(older, "planned", 30, 50);
    await older.topUp?.({ id: "bought to spend", account: "spent", amountMicro: 10 });
    await older.settle(await begin(older, "spent", 10), { amountMicro: 10 });
    expect((await older.balance("spent", limitsOf(0))).prepaid).toBeUndefined();

    expect((await newer.balance("spent", limitsOf(0))).prepaid).toEqual(prepaidLeft(0));
    expect((await newer.balance("bought", limitsOf(0))).prepaid).toMatchObject({ balanceMicro: 95, heldMicro: 40 });
    await newer.renew([{ lease: open, observedMicro: 60, leaseMs }]);
    expect((await newer.balance("bought", limitsOf(0))).prepaid).toMatchObject({ balanceMicro: 95, heldMicro: 60 });
    expect(await newer.settle(open, { amountMicro: 70 })).toMatchObject({ status: "settled", prepaidMicro: 70 });
    expect(await newer.settle(dead, { amountMicro: 2 })).toMatchObject({ status: "late", prepaidMicro: 2 });
    expect((await newer.balance("bought", limitsOf(0))).prepaid).toEqual(prepaidLeft(28));
    // It has not kept the limits of the admission: the plan, which held it, pays all.
    await newer.topUp?.({ id: "bought meanwhile", account: "planned", amountMicro: 100 });
    expect(await newer.settle(planned, { amountMicro: 80 })).toMatchObject({ windows: { week: { usedMicro: 80 } } });
    expect((await newer.balance("planned", limitsOf(50))).prepaid).toEqual(prepaidLeft(100));

    // The version before ends a call that both pay, by the rule of this one.
    await newer.topUp?.({ id: "bought by newer", account: "both", amountMicro: 100 });
    const both = await begin(newer, "both", 30, 20);
    const own = await begin(older, "both", 30, 20);
    expect(await older.settle(both, { amountMicro: 25 })).toMatchObject({ status: "settled" });
    expect(await older.settle(own, { amountMicro: 25 })).toMatchObject({ status: "settled" });
    expect((await newer.balance("both", limitsOf(20))).prepaid).toEqual(prepaidLeft(70));
    const { entries = [] } = (await newer.history?.({ account: "both" })) ?? {};
    expect(entries.map(({ amountMicro, prepaidMicro }) => [amountMicro, prepaidMicro])).toEqual([
      [25, 25],
      [25, 5],
      [100, undefined],
    ]);
    expect((await older.history?.({ account: "both" }))?.entries).toHaveLength(3);
    expect(await older.usage?.({ account: "both", by: ["funding"] })).toMatchObject([
      { by: { funding: "plan" }, requests: 1, chargedMicro: 20 },
      { by: { funding: "prepaid" }, requests: 1, chargedMicro: 30 },
    ]);
    await newer.deduct?.({ id: "taken back", account: "both", amountMicro: 70 });
    expect((await older.reserve({ ...request("both", 1, 0), limits: limitsOf(20) })).ok).toBe(false);
    await Promise.all([older.close(), newer.close()]);
  });
});
