import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Lease } from "../../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../../src/stores/postgres/postgres-credit-ledger.js";
import { Fixture, minute, start } from "../../../../src/testing/credit-ledger-fixture.js";
import { creditsNow, prepaidLeft, topUp } from "../../../../src/testing/credit-limits/limits-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "../test-schema.js";

describeWithPostgres("PostgreSQL, sweeps", (server) => {
  let pool: pg.Pool;
  let places = 0;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  /** Accounts of a schema of their own, in each of which a call has reported a cost of 3. */
  async function openCalls(count: number) {
    const schema = `sweeps_${++places}`;
    const clock = new ManualClock(start);
    await createShiftedSchema(pool, schema);
    const open = (on: pg.Pool = pool) => postgresCreditLedger({ pool: shiftedPool(on, schema, clock), schema });
    const ledger = open();
    const accounts = Array.from({ length: count }, () => new Fixture(clock, ledger, { month: 1_000 }));
    const leases = await Promise.all(accounts.map((account) => account.admit(5)));
    await ledger.renew(leases.map((lease) => ({ lease, observedMicro: 3, leaseMs: minute })));
    const sweep = () => ledger.sweep?.();
    return { schema, clock, open, ledger, accounts, leases: leases as [Lease, ...Lease[]], sweep };
  }

  const checkpoints = async (schema: string) =>
    (await pool.query(`select account, amount from ${schema}.entry where kind = 'checkpoint'`)).rows;

  it("charge what leases of many accounts had reported, each once, whoever sweeps and calls meanwhile", async () => {
    const { schema, clock, open, accounts, leases } = await openCalls(250);
    clock.advance(minute);
    const ledgers = Array.from({ length: 4 }, () => open());
    const [ended] = await Promise.all([
      Promise.all(ledgers.map((ledger) => ledger.sweep?.())),
      ...accounts.slice(0, 50).map((account) => account.spend(1)),
    ]);
    const rest = await ledgers[0]?.sweep?.();
    expect(ended.reduce((sum: number, count) => sum + (count ?? 0), rest ?? 0)).toBeGreaterThanOrEqual(200);
    expect(new Set((await checkpoints(schema)).map(({ account }) => account)).size).toBe(250);
    expect(await checkpoints(schema)).toHaveLength(250);
    expect(await ledgers[1]?.sweep?.()).toBe(0);
    for (const [index, account] of accounts.entries()) {
      expect((await account.windows()).month).toMatchObject({ usedMicro: index < 50 ? 4 : 3, heldMicro: 0 });
    }
    expect(await ledgers[2]?.settle(leases[0], { amountMicro: 5 })).toMatchObject({ status: "late" });
  });

  it("end as much in one call as a process may leave that dies", async () => {
    const { clock, sweep } = await openCalls(1_100);
    clock.advance(minute);
    expect(await sweep()).toBe(1_100);
  });

  it("are bounded, a step at a time", async () => {
    const { schema, clock } = await openCalls(5);
    clock.advance(minute);
    await pool.query(`update ${schema}.test_clock set now_ms = $1`, [clock.now()]);
    const step = async () => Number((await pool.query(`select ${schema}.sweep(2) as ended`)).rows[0].ended);
    expect([await step(), await step(), await step(), await step()]).toEqual([2, 2, 1, 0]);
  });

  it("find what is due among many leases that are not", async () => {
    const { schema, clock, leases, ledger } = await openCalls(40);
    const due = leases.at(-1) as Lease;
    const others = leases.slice(0, -1);
    await ledger.renew(others.map((lease) => ({ lease, observedMicro: 3, leaseMs: 2 * minute })));
    clock.advance(minute);
    await pool.query(`update ${schema}.test_clock set now_ms = $1`, [clock.now()]);
    expect((await pool.query(`select ${schema}.sweep(1) as ended`)).rows).toEqual([{ ended: "1" }]);
    expect(await checkpoints(schema)).toEqual([{ account: due.account, amount: "3" }]);
  });

  it("leave to another process what that one is at, and do not wait for it", async () => {
    const { schema, clock, accounts, sweep } = await openCalls(3);
    clock.advance(minute);
    const [busy] = accounts as [Fixture];
    const other = await pool.connect();
    await other.query("begin");
    await other.query(`select from ${schema}.account where id = $1 for update`, [busy.id]);
    expect(await sweep()).toBe(2);
    await other.query("commit");
    await other.query("begin");
    await other.query(`select ${schema}.sweep(1)`);
    expect(await sweep()).toBe(0);
    await other.query("rollback");
    other.release();
    expect(await sweep()).toBe(1);
  });

  it("touch no account in which nothing has expired", async () => {
    const { schema, clock, ledger, leases, accounts, sweep } = await openCalls(3);
    await ledger.settle(leases[0], { amountMicro: 1 });
    clock.advance(minute - 1);
    const versions = async () => (await pool.query(`select id, xmin, ctid from ${schema}.account order by id`)).rows;
    const before = await versions();
    expect(await sweep()).toBe(0);
    expect(await versions()).toEqual(before);
    clock.advance(1);
    expect(await sweep()).toBe(2);
    const [settled] = accounts as [Fixture];
    const ofSettled = (rows: Awaited<ReturnType<typeof versions>>) => rows.find(({ id }) => id === settled.id);
    expect(ofSettled(await versions())).toEqual(ofSettled(before));
  });

  it("do what an operation would: prepaid credits pay their part, and what has expired lapses", async () => {
    const { clock, accounts, sweep } = await openCalls(1);
    const [account] = accounts as [Fixture];
    account.plan = { month: 10 };
    await topUp(account, 30, { expiresAt: start + 5 * minute });
    const lease = await account.admit(20);
    await account.ledger.renew([{ lease, observedMicro: 20, leaseMs: minute }]);
    clock.advance(minute);
    expect(await sweep()).toBe(2);
    expect((await creditsNow(account)).prepaid?.balanceMicro).toBe(17);
    expect((await account.windows()).month).toMatchObject({ usedMicro: 10, heldMicro: 0 });
    const free = await account.admit(0);
    await account.ledger.renew([{ lease: free, observedMicro: 0, leaseMs: 15 * minute }]);
    clock.advance(15 * minute);
    expect(await sweep()).toBe(1);
    const [newest] = (await account.ledger.history?.({ account: account.id, limit: 1 }))?.entries ?? [];
    expect(newest).toMatchObject({ kind: "expiry", amountMicro: -17 });
    expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(0));
  });

  it.each(["serializable", "repeatable read"])("end all where transactions are %s by default", async (isolation) => {
    const { schema, clock, open, accounts } = await openCalls(60);
    clock.advance(minute);
    const options = `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;
    const strict = new pg.Pool({ connectionString: server.url, options });
    const ledgers = [open(strict), open(strict)];
    await Promise.all([
      ...ledgers.flatMap((ledger) => [ledger.sweep?.(), ledger.sweep?.()]),
      ...accounts.map((account) => account.spend(1)),
    ]);
    await ledgers[0]?.sweep?.();
    expect(await checkpoints(schema)).toHaveLength(60);
    await strict.end();
  });
});
