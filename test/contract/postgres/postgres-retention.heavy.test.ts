import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger, Lease, WindowLimits } from "../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { journalOf } from "../../support/journal-of.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { createShiftedSchema, shiftedPool } from "./test-schema.js";
import { untilBlocked } from "./until-blocked.js";

const day = 86_400_000;
const start = Date.UTC(2026, 2, 11, 9, 30);
const credits = { session: null, week: null, month: null };

let serial = 0;

class Fixture {
  readonly clock = new ManualClock(start);
  readonly schema = `retention_${++serial}`;
  readonly account = randomUUID();
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  get limits(): WindowLimits {
    return windowLimits({ credits, sessionMs: day, now: this.clock.now() });
  }

  /** Another process: its retention is due at its first operation. */
  open(retentionMs?: number): CreditLedger {
    return postgresCreditLedger({
      pool: shiftedPool(this.#pool, this.schema, this.clock),
      schema: this.schema,
      retentionMs,
    });
  }

  async admit(ledger: CreditLedger, id: string = randomUUID()): Promise<Lease> {
    const { account, limits } = this;
    const result = await ledger.reserve({ id, account, amountMicro: 10, limits, leaseMs: 60_000 });
    // Its own step of the retention, too, is over: one that came late would find the clock moved.
    await ledger.close();
    if (!result.ok) throw new Error("Nothing is limited here.");
    return result.lease;
  }

  async count(table: "hold" | "entry" | "account" | "forgotten"): Promise<number> {
    const { rows } = await this.#pool.query(`select count(*)::int as count from ${this.schema}.${table}`);
    return rows[0].count;
  }
}

describeWithPostgres("PostgreSQL, retention", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  async function makeFixture(): Promise<Fixture> {
    const fixture = new Fixture(pool);
    await createShiftedSchema(pool, fixture.schema);
    return fixture;
  }

  it("is not compiled, and leaves the connection as it was", async () => {
    const schema = `retention_${++serial}`;
    await createShiftedSchema(pool, schema);
    await pool.query(`
      create table ${schema}.seen (jit text);
      create or replace function ${schema}.purge(retention_ms bigint, step_size int) returns boolean
      language plpgsql as $$ begin insert into ${schema}.seen values (current_setting('jit')); return false; end $$;
    `);
    const single = new pg.Pool({ connectionString: server.url, max: 1, options: "-c jit=on" });
    const ledger = postgresCreditLedger({ pool: shiftedPool(single, schema, new ManualClock(start)), schema });
    await ledger.reset("somebody", ["week"]);
    await ledger.close();
    const { rows } = await single.query(`select jit, current_setting('jit') as after from ${schema}.seen`);
    await single.end();
    expect(rows).toEqual([{ jit: "off", after: "on" }]);
  });

  /** One operation, and the step of the retention that it sets off. */
  async function touch(fixture: Fixture, retentionMs?: number): Promise<void> {
    const ledger = fixture.open(retentionMs);
    await ledger.reset("somebody", ["week"]);
    await ledger.close();
  }

  it("drops entries after 400 days, not earlier, and knows what it does not know any more", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open();
    const [settled, died] = [await fixture.admit(ledger), await fixture.admit(ledger)];
    await ledger.settle(settled, { amountMicro: 4 });
    fixture.clock.advance(400 * day);
    await touch(fixture);
    expect(await journalOf(ledger, fixture.account)).toHaveLength(1);
    expect((await ledger.settle(settled, { amountMicro: 4, mayBeDuplicateSince: start })).status).toBe("duplicate");

    // The hold expires only now, and is then as old as its lease.
    await ledger.reset(fixture.account, ["week"]);
    fixture.clock.advance(61_000);
    await touch(fixture);
    expect(await journalOf(ledger, fixture.account)).toEqual([]);
    expect([await fixture.count("hold"), await fixture.count("entry")]).toEqual([0, 0]);
    // What has died was charged when it did, however late its settlement is first sent.
    for (const [lease, mayBeDuplicateSince] of [[settled, start] as const, [died, fixture.clock.now()] as const]) {
      expect((await ledger.settle(lease, { amountMicro: 4, mayBeDuplicateSince })).status).toBe("unresolved");
      expect(await ledger.renew([{ lease, observedMicro: 4, leaseMs: 60_000 }])).toEqual(["closed"]);
    }
    expect(await journalOf(ledger, fixture.account)).toMatchObject([
      { kind: "unresolved", amountMicro: 0, tags: { unresolvedMicro: 4 } },
      { kind: "unresolved", amountMicro: 0, tags: { unresolvedMicro: 4 } },
    ]);
    const fresh = { ...(await fixture.admit(ledger)), id: "lost" };
    const again = { amountMicro: 4, mayBeDuplicateSince: fixture.clock.now() };
    expect((await ledger.settle(fresh, again)).status).toBe("recovered");
  });

  it("is not led to a second charge by a clock that goes ahead and comes back", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open();
    const lease = await fixture.admit(ledger);
    await ledger.settle(lease, { amountMicro: 4 });
    fixture.clock.advance(401 * day);
    await touch(fixture);
    fixture.clock.set(start);
    expect((await ledger.settle(lease, { amountMicro: 4, mayBeDuplicateSince: start })).status).toBe("unresolved");
    expect((await ledger.balance(fixture.account, fixture.limits)).windows.week.usedMicro).toBe(4);
  });

  it("reads the clock when it has waited for the account, not before", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open();
    const lease = await fixture.admit(ledger);
    const client = await pool.connect();
    await client.query("begin");
    await client.query(`select from ${fixture.schema}.account for update`);
    const settled = ledger.settle(lease, { amountMicro: 4 });
    await untilBlocked(pool);
    await pool.query(`update ${fixture.schema}.test_clock set now_ms = now_ms + 60000`);
    await client.query("commit");
    client.release();
    expect((await settled).status).toBe("late");
    expect(await journalOf(ledger, fixture.account)).toMatchObject([{ at: start + 60_000 }]);
  });

  it("drops no more than a thousand entries at a time", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open();
    const leases = await Promise.all(Array.from({ length: 1_500 }, () => fixture.admit(ledger)));
    await Promise.all(leases.map((lease) => ledger.release(lease)));
    fixture.clock.advance(2 * day + 1);
    await touch(fixture, 2 * day);
    expect(await fixture.count("entry")).toBe(500);
    await touch(fixture, 2 * day);
    expect(await fixture.count("entry")).toBe(0);
  });

  it("keeps open holds, however old", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open(day);
    const lease = await fixture.admit(ledger);
    const leaseMs = 15 * 60_000;
    for (let quarters = 0; quarters < 30 * 4; quarters++) {
      expect(await ledger.renew([{ lease, observedMicro: quarters, leaseMs }])).toEqual(["renewed"]);
      fixture.clock.advance(leaseMs - 1);
    }
    await touch(fixture, day);
    expect((await ledger.settle(lease, { amountMicro: 4 })).status).toBe("settled");
  });

  it("forgets an account with a long journal, and nobody else", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open();
    await fixture.admit(ledger);
    await pool.query(
      `insert into ${fixture.schema}.entry (account, at, id, kind, amount, starts)
       select s, i, s || i, 'charge', 1, '{1,1,1}' from generate_series(1, 25000) i, (values ($1), ('other')) as v (s)`,
      [fixture.account],
    );
    await ledger.forget(fixture.account);
    expect(await journalOf(ledger, fixture.account)).toEqual([]);
    expect([await fixture.count("hold"), await fixture.count("entry"), await fixture.count("account")]).toEqual([
      0, 25_000, 0,
    ]);
  });

  it("locks no entry of an account that it forgets before the account: two that did would wait for each other", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open();
    await ledger.settle(await fixture.admit(ledger), { amountMicro: 4 });
    const client = await pool.connect();
    await client.query("begin");
    await client.query(`select from ${fixture.schema}.account for update`);
    const forgotten = ledger.forget(fixture.account);
    await untilBlocked(pool);
    await client.query(`select from ${fixture.schema}.entry for update nowait`);
    await client.query("commit");
    client.release();
    await forgotten;
    expect(await fixture.count("entry")).toBe(0);
  });

  it("leaves of a forgotten account for a day when that was, without its name", async () => {
    const fixture = await makeFixture();
    const ledger = fixture.open();
    const lease = await fixture.admit(ledger);
    await ledger.forget(fixture.account);
    expect((await ledger.settle(lease, { amountMicro: 4 })).status).toBe("duplicate");
    expect(await ledger.renew([{ lease, observedMicro: 4, leaseMs: 60_000 }])).toEqual(["closed"]);
    for (const table of ["account", "hold", "entry"] as const) expect(await fixture.count(table)).toBe(0);
    const { rows } = await pool.query(`select encode(digest, 'escape') as digest, at from ${fixture.schema}.forgotten`);
    expect(rows).toMatchObject([{ at: String(start) }]);
    expect(JSON.stringify(rows)).not.toContain(fixture.account);
    fixture.clock.advance(day);
    await touch(fixture);
    expect(await fixture.count("forgotten")).toBe(1);
    fixture.clock.advance(1);
    await touch(fixture);
    expect(await fixture.count("forgotten")).toBe(0);
  });

  it.each([0, -1, day - 1, day + 0.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses to keep entries %d ms", (ms) => {
    expect(() => postgresCreditLedger({ pool, retentionMs: ms })).toThrow(RangeError);
  });
});
