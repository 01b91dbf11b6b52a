import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { TotalsRequest } from "../../../../src/ledger/usage/usage-request.js";
import { TotalSums } from "../../../../src/ledger/usage/usage-sums.js";
import { day, hour, minute } from "../../../../src/testing/credit-ledger-fixture.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { shiftedPool } from "../test-schema.js";
import { type Entered, enter, toLedgerEntry } from "./entered.js";
import { makeUsagePlace, midnight, type UsagePlace } from "./usage-place.js";

const quarter = 15 * minute;
const accounts = ["a", "b", "c"];

describeWithPostgres("PostgreSQL, running totals of days", (server) => {
  let pool: pg.Pool;
  let place: UsagePlace;
  let entered: { account: string; entry: Entered }[];
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    // Three days are over.
    place = await makeUsagePlace(pool, midnight + 3 * day + 2 * hour);
  });
  afterAll(() => pool.end());
  beforeEach(reset);

  async function reset(): Promise<void> {
    entered = [];
    for (const table of ["entry", "usage_sum", "usage_running"])
      await pool.query(`delete from ${place.schema}.${table}`);
    await pool.query(`update ${place.schema}.usage_running_until set day = -100000000, account = ''`);
  }

  async function add(account: string, entries: readonly Entered[]): Promise<void> {
    entered.push(...entries.map((entry) => ({ account, entry })));
    await enter(pool, { schema: place.schema, account }, entries);
  }

  /** @returns whether there may be more to do. */
  async function step(entries = 10_000): Promise<boolean> {
    const client = shiftedPool(pool, place.schema, place.account.clock);
    const { rows } = await client.query(`select ${place.schema}.run_totals($1) as more`, [entries]);
    return (rows as { more: boolean }[])[0]?.more === true;
  }

  async function expectTotals(request: TotalsRequest): Promise<void> {
    const [sums, expected] = [new TotalSums(request), new TotalSums(request)];
    for (const total of (await place.account.ledger.totals?.(request)) ?? []) sums.add(total);
    for (const { account, entry } of entered) expected.addEntry(account, toLedgerEntry(entry));
    expect({ request, totals: sums.list() }).toEqual({ request, totals: expected.list() });
  }

  const call = (at: number, rest: Partial<Entered> = {}): Entered => ({
    at,
    kind: "charge",
    amountMicro: 5,
    isPrepaid: false,
    tags: { model: "m", keyId: "k", input: 3, costMicro: 2, "tag.team": "red" },
    ...rest,
  });
  const rows = async (table: string) =>
    (await pool.query(`select * from ${place.schema}.${table} order by account, day`)).rows;
  const divided = { periods: [midnight + 5 * hour, midnight + 29 * hour], by: ["account"], where: {} };

  it("answer with the journal, whatever is added and made in between", async () => {
    const moment = fc
      .integer({ min: 0, max: 3 * 96 })
      .chain((n) => fc.constantFrom(-1, 0, 1).map((ms) => midnight + Math.max(0, n * quarter + ms)));
    const entry: fc.Arbitrary<Entered> = fc
      .record({
        at: moment,
        kind: fc.constantFrom<Entered["kind"]>("charge", "charge", "checkpoint", "release"),
        amountMicro: fc.integer({ min: -50, max: 50 }).map((amount) => amount || 1),
        paid: fc.constantFrom({ isPrepaid: true }, { isPrepaid: false }, { isPrepaid: false, prepaidMicro: 100 }),
        tags: fc.option(
          fc.record({
            model: fc.constantFrom("m", 'n"'),
            keyId: fc.constantFrom("k", "l"),
            plan: fc.constantFrom("p", 5),
            input: fc.nat(9),
            reasoning: fc.nat(9),
            costMicro: fc.constantFrom<number | string>(1, 2, "none"),
            "tag.team": fc.constantFrom("a", "b", 3),
          }),
        ),
      })
      .map(({ paid, ...rest }) => ({ ...rest, ...paid }));
    const added = fc.record({
      account: fc.constantFrom(...accounts),
      entries: fc.array(entry, { minLength: 1, maxLength: 25 }),
    });
    const dimensions = [["account"], ["key", "funding"], ["account", "tag.team"], ["plan", "account", "model"]];
    const request = fc.record({
      periods: fc
        .uniqueArray(
          fc.oneof(
            moment,
            fc.integer({ min: 0, max: 290 }).map((n) => midnight + n * quarter),
          ),
          {
            minLength: 2,
            maxLength: 9,
          },
        )
        .map((moments) => moments.sort((one, other) => one - other)),
      by: fc.constantFrom(...dimensions),
      where: fc.constantFrom({}, {}, { model: ["m", null] }, { key: ["k"] }),
    });
    const act = fc.oneof(fc.record({ add: added }), fc.record({ steps: fc.integer({ min: 1, max: 4 }) }), request);
    await fc.assert(
      fc.asyncProperty(fc.array(added, { maxLength: 6 }), fc.array(act, { maxLength: 15 }), async (first, acts) => {
        await reset();
        for (const { account, entries } of first) await add(account, entries);
        for (const next of acts) {
          if ("add" in next) await add(next.add.account, next.add.entries);
          else if ("steps" in next) for (let n = 0; n < next.steps; n++) await step(1);
          else await expectTotals(next);
        }
        while (await step());
        for (const by of dimensions) {
          await expectTotals({ periods: [midnight + 5 * hour, midnight + 41 * hour + quarter], by, where: {} });
        }
      }),
      { numRuns: 40 },
    );
  });

  it("answer for a day that was divided, and not for what was added late", async () => {
    for (const account of accounts)
      await add(
        account,
        [4, 6, 30].map((at) => call(midnight + at * hour)),
      );
    while (await step());
    await pool.query(`update ${place.schema}.entry set amount = 1000`);
    await expectTotals(divided);
    // So that the journal tells what it is read for.
    await pool.query(`update ${place.schema}.entry set amount = 5`);
    await add("b", [call(midnight + 7 * hour)]);
    await pool.query(`update ${place.schema}.entry set amount = 1000 where account <> 'b'`);
    await expectTotals(divided);
  });

  it("are made for days that have been over for an hour, some accounts at a time", async () => {
    const last = midnight + 3 * day;
    for (const account of accounts) await add(account, [call(midnight), call(midnight + 1), call(last)]);
    await step(1);
    expect((await rows("usage_running")).map(({ account }) => account)).toEqual(["a"]);
    while (await step());
    expect(
      (await rows("usage_running")).map((row) => [row.account, row.day * day, row.quarters, row.requests]),
    ).toEqual(accounts.map((account) => [account, midnight, [0], [2]]));
    place.account.clock.set(last + day + hour - 1);
    expect(await step()).toBe(false);
    place.account.clock.set(last + day + hour);
    while (await step());
    expect(await rows("usage_running")).toHaveLength(6);
    place.account.clock.set(last + 2 * hour);
  });

  it("are made by settlements in passing, and go with their account", async () => {
    await add("a", [call(midnight + hour)]);
    const { account } = place;
    await account.spend(7);
    await place.purge();
    expect((await rows("usage_running")).map((row) => row.account)).toEqual(["a"]);
    await account.ledger.forget("a");
    expect(await rows("usage_running")).toEqual([]);
  });

  it("have no tags where a day has too many sets of them", async () => {
    const tags = (n: number) => ({ model: "m", "tag.team": `team ${n}` });
    await add(
      "a",
      Array.from({ length: 210 }, (_, n) => call(midnight + n * minute, { tags: tags(n) })),
    );
    while (await step());
    expect(await rows("usage_running")).toMatchObject([{ tags: null }]);
    const periods = [midnight + hour, midnight + day + hour];
    for (const by of [["account"], ["account", "tag.team"]]) await expectTotals({ periods, by, where: {} });
  });
});
