import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TotalsRequest } from "../../../../src/ledger/usage/usage-request.js";
import { TotalSums } from "../../../../src/ledger/usage/usage-sums.js";
import { day, type Fixture, hour, minute } from "../../../../src/testing/credit-ledger-fixture.js";
import { entriesOf } from "../../../../src/testing/credit-ledger-journal/journal-tests.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { makeUsagePlace, midnight } from "./usage-place.js";

const quarter = 15 * minute;

describeWithPostgres("PostgreSQL, sums over all accounts by the quarter of an hour", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  const makePlace = (now?: number) => makeUsagePlace(pool, now);

  const rowsOf = async (schema: string) =>
    (await pool.query(`select writer, tags, requests::int from ${schema}.usage_quarter order by quarter, tags, writer`))
      .rows;

  async function spend(account: Fixture, amountMicro: number, team: string): Promise<void> {
    await account.ledger.settle(await account.admit(amountMicro), {
      amountMicro,
      tags: { model: "m", "tag.team": team },
    });
  }

  async function expectTotals({ ledger, id }: Fixture, request: TotalsRequest): Promise<void> {
    const [sums, expected] = [new TotalSums(request), new TotalSums(request)];
    for (const total of (await ledger.totals?.(request)) ?? []) sums.add(total);
    for (const entry of await entriesOf({ ledger, id }, { limit: 1_000 })) expected.addEntry(id, entry);
    expect(sums.list()).toEqual(expected.list());
  }

  const quarters = Array.from({ length: 5 }, (_, count) => midnight + count * quarter);

  it("are merged once a quarter is over, and a forgotten account leaves no name in them", async () => {
    const { account, schema, purge } = await makePlace(midnight);
    await spend(account, 7, "red");
    await purge();
    const [row] = await rowsOf(schema);
    expect(row).toMatchObject({ tags: { "tag.team": "red" }, requests: 1 });
    expect(row.writer).not.toBe(0);
    account.clock.advance(quarter + minute);
    await spend(account, 8, "red");
    await purge();
    expect(await rowsOf(schema)).toMatchObject([{ writer: 0, requests: 1 }, { requests: 1 }]);
    await expectTotals(account, { periods: quarters, by: ["tag.team"], where: {} });
    await account.ledger.forget(account.id);
    expect(await account.ledger.totals?.({ periods: quarters, by: [], where: {} })).toEqual([]);
    account.clock.advance(hour);
    await purge();
    expect(await rowsOf(schema)).toEqual([]);
  });

  it("know some sets of tags, and beyond those the accounts' sums do", async () => {
    const { account, schema, purge } = await makePlace(midnight);
    for (let call = 0; call < 70; call++) await spend(account, 1 + call, `team ${call}`);
    const byTeam = { periods: quarters, by: ["tag.team"], where: {} };
    await expectTotals(account, byTeam);
    await expectTotals(account, { periods: [midnight, midnight + day], by: ["tag.team"], where: {} });
    await expectTotals(account, { periods: quarters, by: ["model"], where: {} });
    expect((await rowsOf(schema)).filter(({ tags }) => tags === null)).not.toEqual([]);
    account.clock.advance(hour);
    await purge();
    expect(await rowsOf(schema)).toEqual([{ writer: 0, tags: null, requests: 70 }]);
    await expectTotals(account, byTeam);
  });
});
