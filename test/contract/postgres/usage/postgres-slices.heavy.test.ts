import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { UsageSums } from "../../../../src/ledger/usage/usage-sums.js";
import { postgresCreditLedger } from "../../../../src/stores/postgres/postgres-credit-ledger.js";
import type { PostgresPool } from "../../../../src/stores/postgres/postgres-pool.js";
import { day, Fixture, hour, minute } from "../../../../src/testing/credit-ledger-fixture.js";
import { expectSumsToMatch } from "../../../../src/testing/credit-ledger-journal/usage-rules.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { shiftedPool } from "../test-schema.js";
import { untilBlocked } from "../until-blocked.js";
import { type Entered, enter, toLedgerEntry } from "./entered.js";
import { makeUsagePlace, midnight, type UsagePlace, usageOf } from "./usage-place.js";

const firstDay = midnight / day;
const dimensions = [["model", "key"], ["day", "funding"], ["team"], ["day", "team", "model"]];

/** Calls that are so many milliseconds apart. */
function calls(count: number, { from = midnight, apart = 1 }: { from?: number; apart?: number } = {}): Entered[] {
  return Array.from({ length: count }, (_, n) => ({
    at: from + n * apart,
    kind: "charge",
    amountMicro: 1 + (n % 997),
    isPrepaid: n % 5 === 0,
    tags: { model: `m${n % 3}`, keyId: `k${n % 2}`, input: n, output: 2 * n, "tag.team": `t${n % 4}` },
  }));
}

describeWithPostgres("PostgreSQL, slices of days", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  async function makePlace(entries: readonly Entered[] = []): Promise<UsagePlace> {
    const place = await makeUsagePlace(pool);
    await enterAt(place, entries);
    return place;
  }

  const enterAt = ({ schema, account }: UsagePlace, entries: readonly Entered[]) =>
    enter(pool, { schema, account: account.id }, entries);

  /** The day must be sliced, however few entries it has. */
  const busy = ({ schema, account }: UsagePlace, of = firstDay, client: Pick<pg.Pool, "query"> = pool) =>
    client.query(`insert into ${schema}.usage_busy values ($1, $2) on conflict do nothing`, [of, account.id]);

  /** @returns whether there may be more to slice. */
  async function step({ schema }: UsagePlace, entries = 10_000, client: Pick<pg.Pool, "query"> = pool) {
    return (await client.query(`select ${schema}.slice_usage($1) as more`, [entries])).rows[0].more as boolean;
  }

  async function slice(place: UsagePlace, of = firstDay): Promise<void> {
    await busy(place, of);
    while (await step(place));
  }

  async function edgesOf({ schema, account }: UsagePlace): Promise<[since: number, until: number][]> {
    const { rows } = await pool.query(
      `select distinct since, until from ${schema}.usage_slice where account = $1 order by since`,
      [account.id],
    );
    return rows.map(({ since, until }) => [Number(since), Number(until)]);
  }

  const countOf = async ({ schema }: UsagePlace, table: string, where = "true") =>
    Number((await pool.query(`select count(*) from ${schema}.${table} where ${where}`)).rows[0].count);

  async function expectUsage(account: Fixture, entries: readonly Entered[], range: { from?: number; to?: number }) {
    const { from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER } = range;
    for (const by of dimensions) {
      const sums = new UsageSums(by);
      for (const entry of entries) if (entry.at >= from && entry.at < to) sums.addEntry(toLedgerEntry(entry));
      expect(await usageOf(account, by, range)).toEqual(sums.list());
    }
  }

  it("follow each other without a gap, and answer for all but the slice that a range divides", async () => {
    const entries = calls(1_000, { apart: minute });
    const place = await makePlace(entries);
    await slice(place);
    const edges = await edgesOf(place);
    // By the root of a thousand.
    expect(edges).toHaveLength(7);
    expect(edges.map(([since]) => since)).toEqual([midnight, ...edges.slice(0, -1).map(([, until]) => until)]);
    expect(edges.at(-1)?.[1]).toBe(midnight + day);
    const [since, until] = edges[3] ?? [0, 0];
    // What is not read may say anything.
    await pool.query(`update ${place.schema}.entry set amount = 100000 where at < $1 or at >= $2`, [since, until]);
    const divided = since + 50 * minute;
    for (const range of [
      ...[{ from: divided }, { to: divided }, { from: since }, { to: until }],
      ...[
        { from: since, to: divided },
        { from: divided, to: until },
        { from: until, to: midnight + day },
      ],
      { from: divided, to: edges[5]?.[1] ?? 0 },
    ]) {
      await expectUsage(place.account, entries, range);
    }
  });

  it("keep entries of one moment together", async () => {
    const entries = [...calls(400, { apart: 0 }), ...calls(30, { from: midnight + hour, apart: 0 })];
    const place = await makePlace(entries);
    await slice(place);
    expect(await edgesOf(place)).toEqual([
      [midnight, midnight + 1],
      [midnight + 1, midnight + day],
    ]);
    for (const to of [midnight, midnight + 1, midnight + hour, midnight + hour + 1]) {
      await expectUsage(place.account, entries, { to });
      await expectUsage(place.account, entries, { from: to, to: midnight + 2 * hour });
    }
  });

  it("answer with the journal, whatever is added, sliced and asked in between", async () => {
    const moment = fc
      .integer({ min: 0, max: 96 })
      .chain((n) => fc.constantFrom(-1, 0, 1).map((ms) => n * 30 * minute + ms));
    const record = fc.record({
      at: moment.map((at) => midnight + Math.max(0, at)),
      kind: fc.constantFrom<Entered["kind"]>("charge", "charge", "checkpoint", "release"),
      // What costs nothing is the plan's.
      amountMicro: fc.integer({ min: -50, max: 50 }).map((amount) => amount || 1),
      paid: fc.constantFrom({ isPrepaid: true }, { isPrepaid: false }, { isPrepaid: false, prepaidMicro: 100 }),
      tags: fc.option(
        fc.record({ model: fc.constantFrom("m", 'n"'), input: fc.nat(9), "tag.team": fc.constantFrom("a", "b", 3) }),
      ),
    });
    const entry = record.map(({ paid, ...rest }): Entered => ({ ...rest, ...paid }));
    const act = fc.oneof(
      { weight: 2, arbitrary: fc.record({ add: fc.array(entry, { minLength: 1, maxLength: 12 }) }) },
      { weight: 2, arbitrary: fc.record({ busy: fc.constantFrom(firstDay, firstDay + 1) }) },
      { weight: 5, arbitrary: fc.record({ steps: fc.integer({ min: 1, max: 4 }) }) },
      { weight: 4, arbitrary: fc.record({ from: moment, to: fc.option(moment, { nil: undefined }) }) },
    );
    const schemaOf = await makePlace();
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 150, maxLength: 200 }),
        fc.array(act, { maxLength: 25 }),
        async (first, acts) => {
          const { clock, ledger } = schemaOf.account;
          const place = { ...schemaOf, account: new Fixture(clock, ledger, {}) };
          const entries = [...first];
          await enterAt(place, first);
          await pool.query(`delete from ${place.schema}.usage_busy`);
          await busy(place);
          for (const next of acts) {
            if ("add" in next) {
              entries.push(...next.add);
              await enterAt(place, next.add);
            } else if ("busy" in next) {
              await busy(place, next.busy);
            } else if ("steps" in next) {
              for (let n = 0; n < next.steps; n++) await step(place, 1);
            } else {
              const to = next.to === undefined ? {} : { to: midnight + next.to };
              await expectUsage(place.account, entries, { from: midnight + next.from, ...to });
            }
          }
          await expectUsage(place.account, entries, { from: midnight + 5 * hour, to: midnight + 41 * hour });
        },
      ),
      { numRuns: 30 },
    );
  });

  it("are made a few at a time, and made anew where something was added meanwhile", async () => {
    const entries = calls(400, { apart: minute });
    const place = await makePlace(entries);
    await busy(place);
    await step(place, 150);
    // Two of 120 entries each: five for each of the 24 sums.
    expect(await edgesOf(place)).toHaveLength(2);
    await expectUsage(place.account, entries, { from: midnight + 90 * minute });
    const late = calls(3, { from: midnight + hour, apart: minute });
    await enterAt(place, late);
    await expectUsage(place.account, [...entries, ...late], { from: midnight + 90 * minute });
    await step(place, 150);
    expect(await edgesOf(place)).toHaveLength(2);
    await expectUsage(place.account, [...entries, ...late], { from: midnight + 90 * minute });
    while (await step(place));
    expect(await edgesOf(place)).toHaveLength(4);
    expect(await countOf(place, "usage_busy")).toBe(0);
    await expectUsage(place.account, [...entries, ...late], { from: midnight + 90 * minute });
  });

  it("do not answer for what a clock that went back has filed under their time", async () => {
    const place = await makePlace();
    const { account } = place;
    account.clock.set(midnight + hour);
    for (let call = 0; call < 30; call++) {
      await account.spend(1 + call);
      account.clock.advance(20 * minute);
    }
    const dead = await account.admit(50);
    await account.ledger.renew([{ lease: dead, observedMicro: 20, leaseMs: minute }]);
    account.clock.set(midnight + 2 * day);
    await slice(place);
    const ranges = [{ from: midnight + 3 * hour }, { from: midnight + 2 * hour + 1, to: midnight + 9 * hour }];
    for (const range of ranges) await expectSumsToMatch(account, range);
    account.clock.set(midnight + 4 * hour);
    const lease = await account.admit(50);
    for (const range of ranges) await expectSumsToMatch(account, range);
    await account.ledger.settle(lease, { amountMicro: 50, tags: { model: "another" } });
    for (const range of ranges) await expectSumsToMatch(account, range);
    await slice(place);
    for (const range of ranges) await expectSumsToMatch(account, range);
  });

  /** An entry of a sum that is there, and one of another. */
  const late = (model: "m0" | "another"): Entered => ({
    ...{ at: midnight + hour, kind: "charge", amountMicro: 1e6, isPrepaid: false },
    tags: { model, keyId: "k0", "tag.team": "t0" },
  });
  const range = { from: midnight + 30 * minute };

  it("wait for what is added to a sum of their day, and have it", async () => {
    const entries = calls(300, { apart: minute });
    const place = await makePlace(entries);
    const client = await pool.connect();
    await client.query("begin");
    await enter(client, { schema: place.schema, account: place.account.id }, [late("m0")]);
    await busy(place);
    const sliced = step(place);
    await untilBlocked(pool);
    await expectUsage(place.account, entries, range);
    await client.query("commit");
    client.release();
    await sliced;
    expect(await countOf(place, "usage_sum", "not sliced")).toBe(0);
    await expectUsage(place.account, [...entries, late("m0")], range);
  });

  it.each(["m0", "another"] as const)(
    "do not answer for what is added while they are made: of the model %s",
    async (model) => {
      const entries = calls(300, { apart: minute });
      const place = await makePlace(entries);
      const of = { schema: place.schema, account: place.account.id };
      const client = await pool.connect();
      await client.query("begin");
      // As an operation does, it writes the journal first.
      await enter(client, { ...of, into: "journal" }, [late(model)]);
      if (model === "another") await enter(client, { ...of, into: "sums" }, [late(model)]);
      await slice(place);
      await expectUsage(place.account, entries, range);
      if (model === "m0") await enter(client, { ...of, into: "sums" }, [late(model)]);
      await client.query("commit");
      client.release();
      await expectUsage(place.account, [...entries, late(model)], range);
    },
  );

  it("are made by many processes at once, each of them once", async () => {
    const entries = calls(1_000, { apart: minute });
    const place = await makePlace(entries);
    const { clock, ledger } = place.account;
    const places = [place, { ...place, account: new Fixture(clock, ledger, {}) }];
    await enterAt(places[1] as UsagePlace, entries);
    for (const each of places) await busy(each);
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let n = 0; n < 20; n++) await step(place, 100);
      }),
    );
    expect(await countOf(place, "usage_busy")).toBe(0);
    for (const each of places) {
      expect(await edgesOf(each)).toHaveLength(7);
      await expectUsage(each.account, entries, { from: midnight + 7 * hour, to: midnight + 8 * hour });
      await expectUsage(each.account, entries, { from: midnight + 7 * hour });
    }
  });

  it("are made of busy days, an hour after their end, as the ledger is used", async () => {
    const ofKeys = (count: number, keys: number, from = midnight) =>
      calls(count, { from, apart: 40_000 }).map((call, n) => ({
        ...call,
        isPrepaid: false,
        tags: { keyId: `k${n % keys}`, input: n },
      }));
    const entries = [
      ...ofKeys(2_000, 20),
      ...ofKeys(1_999, 1, midnight + day),
      ...ofKeys(2_000, 1, midnight + 3 * day),
    ];
    const place = await makePlace(entries);
    const { account, purge, schema } = place;
    // More sums than a hundredth of their entries.
    await enter(pool, { schema, account: "many keys" }, ofKeys(2_000, 21));
    const daysAt = async (now: number) => {
      account.clock.set(now);
      for (let n = 0; n < 4; n++) await purge();
      const { rows } = await pool.query(`select distinct account, day from ${schema}.usage_slice order by day`);
      return rows.map((row) => [row.account, row.day - firstDay]);
    };
    expect(await daysAt(midnight + day + hour - 1)).toEqual([]);
    expect(await daysAt(midnight + day + hour)).toEqual([[account.id, 0]]);
    expect(await daysAt(midnight + 4 * day + hour - 1)).toEqual([[account.id, 0]]);
    const both = [0, 3].map((of) => [account.id, of]);
    expect(await daysAt(midnight + 4 * day + hour)).toEqual(both);
    expect(await edgesOf(place)).toHaveLength(112);
    await expectUsage(account, entries, { from: midnight + 12 * hour, to: midnight + 3 * day + 12 * hour });
    expect(await step(place)).toBe(false);
  });

  it("are of no tags where their day does not know all", async () => {
    const entries = calls(500, { apart: minute }).map((call, n) => ({
      ...call,
      tags: { ...call.tags, "tag.team": `t${n % 250}` },
    }));
    const place = await makePlace(entries);
    await slice(place);
    expect(await countOf(place, "usage_sum", "tags is null")).toBeGreaterThan(0);
    expect(await countOf(place, "usage_slice", "tags is not null")).toBe(0);
    await expectUsage(place.account, entries, { from: midnight + 3 * hour });
    const [divided] = await edgesOf(place);
    await pool.query(`update ${place.schema}.entry set amount = 100000 where at >= $1`, [divided?.[1]]);
    const range = { from: midnight + minute };
    const micro = entries.slice(1).reduce((sum, { amountMicro }) => sum + amountMicro, 0);
    expect((await usageOf(place.account, ["day"], range))[0]?.chargedMicro).toBe(micro);
  });

  it("count no more than can be counted", async () => {
    const most = Number.MAX_SAFE_INTEGER;
    const entries = calls(3_000).map((call) => ({ ...call, isPrepaid: false, tags: { input: 1e300, output: -1e300 } }));
    const place = await makePlace(entries);
    await slice(place);
    const [sum] = await usageOf(place.account, ["day"], { from: midnight + 1 });
    expect(sum).toMatchObject({ requests: 2_999 });
    expect(await countOf(place, "usage_slice", `input <> ${most} or output <> ${-most}`)).toBe(0);
  });

  it("go with their account, however many, and with no other", async () => {
    const place = await makePlace(calls(300));
    const { schema, account } = place;
    const other = { ...place, account: new Fixture(account.clock, account.ledger, {}) };
    await enterAt(other, calls(300));
    await slice(place);
    await slice(other);
    await pool.query(
      `insert into ${schema}.usage_slice (account, day, since, until, place, prepaid, tags, requests, micro)
       select $1, d, d, d + 1, 1, false, '{}', 1, 1 from generate_series(1, 12000) d`,
      [account.id],
    );
    await busy(place);
    await account.ledger.forget(account.id);
    expect(await countOf(place, "usage_slice", `account = '${account.id}'`)).toBe(0);
    expect(await countOf(place, "usage_busy")).toBe(0);
    await expectUsage(other.account, calls(300), { from: midnight + 100 });
    // It comes back.
    await enterAt(place, calls(300));
    await expectUsage(account, calls(300), { from: midnight + 100 });
  });

  it.each(["first", "last", "last, and listed meanwhile"])(
    "are not left of an account that is forgotten as they are made, which comes %s",
    async (order) => {
      const place = await makePlace(calls(300));
      const { schema, account } = place;
      const client = await pool.connect();
      await client.query("begin");
      if (order !== "first") {
        await busy(place, firstDay, order === "last" ? pool : client);
        await step(place, 10_000, client);
        const forgotten = account.ledger.forget(account.id);
        await untilBlocked(pool);
        await client.query("commit");
        await forgotten;
      } else {
        await busy(place);
        await step(place, 100);
        await pool.query(`delete from ${schema}.usage_busy`);
        await client.query(`select ${schema}.forget($1, 10000)`, [account.id]);
        // Its sums were listed again before they went.
        await busy(place);
        const sliced = step(place);
        await untilBlocked(pool);
        await client.query("commit");
        await sliced;
      }
      client.release();
      for (const table of ["usage_slice", "usage_sum", "usage_busy"]) expect(await countOf(place, table)).toBe(0);
    },
  );

  it("are not left of one that is forgotten where transactions are repeatable read by default", async () => {
    const options = "-c default_transaction_isolation=repeatable\\ read";
    const strict = new pg.Pool({ connectionString: server.url, options });
    const place = await makeUsagePlace(strict);
    await enterAt(place, calls(300));
    await busy(place);
    await step(place, 100);
    const client = await pool.connect();
    await client.query("begin");
    await step(place, 100, client);
    const forgotten = place.account.ledger.forget(place.account.id);
    await untilBlocked(pool);
    await client.query("commit");
    client.release();
    await forgotten;
    await strict.end();
    for (const table of ["usage_slice", "usage_sum", "usage_busy"]) expect(await countOf(place, table)).toBe(0);
  });

  it("are the longer the more sums their day has", async () => {
    const entries = calls(1_000).map((call, n) => ({ ...call, isPrepaid: false, tags: { keyId: `k${n % 100}` } }));
    const place = await makePlace(entries);
    await slice(place);
    expect(await edgesOf(place)).toEqual([
      [midnight, midnight + 500],
      [midnight + 500, midnight + 1_000],
    ]);
  });

  it("hold the retention up no longer when they cannot be made", async () => {
    const place = await makePlace(calls(2_500));
    const { schema, account } = place;
    account.clock.set(midnight + 3 * day);
    await pool.query(`drop function ${schema}.slice_usage`);
    const inner = shiftedPool(pool, schema, account.clock);
    let running = 0;
    const counted: PostgresPool = {
      query(text, values) {
        running++;
        return inner.query(text, values).finally(() => running--);
      },
    };
    const ledger = postgresCreditLedger({ pool: counted, schema, retentionMs: day });
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      for (const left of [1_500, 500, 0]) {
        await ledger.reset("somebody", ["week"]);
        await vi.waitFor(
          async () => {
            expect(await countOf(place, "entry")).toBe(left);
            // The pause begins where the step has ended, with what follows its last query.
            await setImmediate();
            expect(running).toBe(0);
          },
          { timeout: 20_000 },
        );
        vi.advanceTimersByTime(1_000);
      }
    } finally {
      vi.useRealTimers();
    }
    await ledger.close();
  });

  it("go with the journal, and the journal answers as far as it is there", async () => {
    const entries = [...calls(500, { apart: minute }), ...calls(500, { from: midnight + day, apart: minute })];
    const place = await makePlace(entries);
    const { account, schema, purge } = place;
    await slice(place);
    await slice(place, firstDay + 1);
    const range = { from: midnight + 2 * hour, to: midnight + day + 3 * hour };
    account.clock.set(midnight + day + 4 * hour);
    await purge(day);
    const kept = entries.filter(({ at }) => at >= midnight + 4 * hour);
    expect(await countOf(place, "entry")).toBe(kept.length);
    expect(await countOf(place, "usage_slice", `day = ${firstDay}`)).toBe(0);
    expect(await countOf(place, "usage_slice", `day = ${firstDay + 1}`)).toBeGreaterThan(0);
    await expectUsage(account, kept, range);
    // There is nothing to slice any more.
    await slice(place);
    expect(await countOf(place, "usage_slice", `day = ${firstDay}`)).toBe(0);
    await expectUsage(account, kept, range);
    // What is not dropped yet is not read.
    await pool.query(
      `insert into ${schema}.usage_slice (account, day, since, until, place, prepaid, tags, requests, micro)
       select $1, $2::int, $3::bigint, $3::bigint + 3600000, 1, false, '{}', 1, 1`,
      [account.id, firstDay, midnight + 5 * hour],
    );
    await expectUsage(account, kept, range);
  });
});
