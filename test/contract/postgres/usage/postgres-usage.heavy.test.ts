import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { EntryTags } from "../../../../src/ledger/credit-ledger.js";
import { day, type Fixture, hour, minute, unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { expectSumsToMatch } from "../../../../src/testing/credit-ledger-journal/usage-rules.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";
import { makeUsagePlace, midnight, usageOf } from "./usage-place.js";

describeWithPostgres("PostgreSQL, sums of usage", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  const makePlace = (now?: number) => makeUsagePlace(pool, now);

  async function spend(account: Fixture, amountMicro: number, tags: EntryTags): Promise<void> {
    await account.ledger.settle(await account.admit(amountMicro), { amountMicro, tags });
  }

  const count = async (schema: string, where = "true") =>
    Number((await pool.query(`select count(*) from ${schema}.usage_sum where ${where}`)).rows[0].count);

  it("outlive the journal, for 400 days of UTC or as long as the journal", async () => {
    const { account, schema, purge } = await makePlace(midnight + 9 * hour);
    await account.spend(10);
    account.clock.advance(10 * hour);
    await account.spend(20);
    account.clock.advance(2 * day);
    await purge(day);
    expect((await account.ledger.history?.({ account: account.id }))?.entries).toEqual([]);
    const total = [{ by: { model: null }, requests: 2, chargedMicro: 30 }];
    expect(await usageOf(account, ["model"])).toMatchObject(total);
    expect(await usageOf(account, ["model"], { from: midnight, to: midnight + day })).toMatchObject(total);
    // Nothing says any more when in the day it was.
    expect(await usageOf(account, ["model"], { from: midnight + hour, to: midnight + 23 * hour })).toEqual([]);

    account.clock.set(midnight + 401 * day - 1);
    await purge(day);
    expect(await count(schema)).toBe(1);
    account.clock.advance(1);
    await purge(500 * day);
    expect(await count(schema)).toBe(1);
    await purge(day);
    expect(await count(schema)).toBe(0);
  });

  it("count a divided day as far as the journal has it", async () => {
    const { account, purge } = await makePlace(midnight + hour);
    for (const amount of [1, 2, 4, 8]) {
      await account.spend(amount);
      account.clock.advance(6 * hour);
    }
    // The entries of 01:00 and 07:00 go.
    account.clock.set(midnight + day + 10 * hour);
    await purge(day);
    expect((await account.ledger.history?.({ account: account.id }))?.entries).toHaveLength(2);
    const micro = async (from: number, to: number) =>
      (await usageOf(account, ["funding"], { from: midnight + from * hour, to: midnight + to * hour }))[0]
        ?.chargedMicro;
    expect(await micro(0, 24)).toBe(15);
    expect(await micro(2, 24)).toBe(12);
    expect(await micro(0, 23)).toBe(12);
    expect(await micro(0, 14)).toBe(4);
    expect(await micro(14, 24)).toBe(8);
  });

  it("read the shorter part of a day: what is asked for, or the rest", async () => {
    const { account, schema } = await makePlace(midnight - hour);
    await account.spend(1024);
    account.clock.set(midnight + hour);
    for (let entry = 0; entry < 8; entry++) {
      await account.spend(1 << entry);
      account.clock.advance(3 * hour);
    }
    account.clock.set(midnight + 2 * day);
    const forgetEntries = (from: number, to: number) =>
      pool.query(`delete from ${schema}.entry where at >= $1 and at < $2`, [
        midnight + from * hour,
        midnight + to * hour,
      ]);
    const micro = async (from: number, to: number) =>
      (await usageOf(account, ["model"], { from: midnight + from * hour, to: midnight + to * hour }))[0]?.chargedMicro;
    // What it does not read may be gone.
    await forgetEntries(9, 15);
    expect([await micro(0, 24), await micro(2, 24), await micro(0, 20), await micro(2, 20)]).toEqual([
      255, 254, 127, 126,
    ]);
    expect([await micro(0, 5), await micro(17, 24), await micro(2, 8)]).toEqual([3, 192, 6]);
    // There is nothing to read of the future: neither the entry of 04:00 nor a later one is.
    account.clock.set(midnight + 6 * hour);
    await forgetEntries(4, 48);
    expect(await micro(0, 6)).toBe(255);
  });

  it("read the part of a day that has fewer entries, however long it is", async () => {
    const { account, schema } = await makePlace(midnight + hour);
    for (let entry = 0; entry < 6; entry++) await account.spend(1 << entry);
    account.clock.set(midnight + 20 * hour);
    await account.spend(64);
    account.clock.set(midnight + 2 * day);
    await account.spend(128);
    // What it does not read may say anything.
    await pool.query(`update ${schema}.entry set amount = 1000 where at < $1`, [midnight + 10 * hour]);
    const range = { from: midnight + 30 * minute, to: midnight + 10 * hour };
    expect((await usageOf(account, ["funding"], range))[0]?.chargedMicro).toBe(63);
  });

  it("add up to the journal in any range", async () => {
    const { account } = await makePlace(midnight);
    const moments = [0, 1, hour, 12 * hour, day - 1, day, day + 1, 2 * day + 13 * hour, 3 * day, 5 * day - 1];
    for (const [index, moment] of moments.entries()) {
      account.clock.set(midnight + moment);
      await spend(account, 1 << index, { model: `m${index % 3}`, "tag.team": `t${index % 2}`, output: index });
      // What is no use.
      const id = unique("grant");
      await account.ledger.grant({
        id,
        account: account.id,
        window: "week",
        amountMicro: 5000,
        limits: account.limits,
      });
    }
    account.clock.set(midnight + 5 * day + 12 * hour);
    const edge = fc.oneof(
      fc.constantFrom(...moments.flatMap((moment) => [moment - 1, moment, moment + 1])),
      fc.integer({ min: -day, max: 7 * day }),
    );
    const range = fc.record({ from: edge, to: edge }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(range, async ({ from, to }) => {
        await expectSumsToMatch(account, {
          ...(from !== undefined && { from: midnight + from }),
          ...(to !== undefined && { to: midnight + to }),
        });
      }),
      { numRuns: 60 },
    );
  });

  it("keep 200 sets of tags a day, and find the others in the journal while it is there", async () => {
    const { account, schema, purge } = await makePlace(midnight + hour);
    for (let call = 0; call < 210; call++) await spend(account, 1, { model: "m", "tag.team": `team-${call}` });
    expect([await count(schema), await count(schema, "tags is null")]).toEqual([201, 1]);
    // Sets that are there already, also of another model, calls without tags, and one set more.
    for (const [model, team] of [
      ["m", "team-7"],
      ["n", "team-7"],
      ["n", "team-207"],
    ] as const) {
      await spend(account, 100, { model, "tag.team": team });
    }
    await spend(account, 1000, { model: "n" });
    expect([await count(schema), await count(schema, "tags is null")]).toEqual([204, 2]);
    await expectSumsToMatch(account);
    const range = { from: midnight + 2 * hour, to: midnight + day };
    await expectSumsToMatch(account, range);
    account.clock.set(midnight + day + hour);
    await spend(account, 5, { model: "m", "tag.team": "team-209" });
    expect(await count(schema, "tags is null")).toBe(2);
    await expectSumsToMatch(account);
    await expectSumsToMatch(account, { from: midnight + 30 * minute });

    const byModel = await usageOf(account, ["model"]);
    account.clock.set(midnight + 3 * day);
    await purge(day);
    expect(await usageOf(account, ["model"])).toEqual(byModel);
    const byTeam = await usageOf(account, ["team"]);
    expect(byTeam.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0)).toBe(210 + 300 + 1000 + 5);
    // The ten that were one set more, one of them twice, and the call without tags.
    expect(byTeam.find(({ by }) => by["team"] === null)).toMatchObject({ requests: 12, chargedMicro: 10 + 100 + 1000 });
  });

  it("take any name for a name", async () => {
    const { account } = await makePlace();
    const names = [
      "__proto__",
      "constructor",
      "'; drop schema infergate cascade; --",
      '"]',
      "$1",
      "%s",
      "tags",
      "günün",
    ];
    for (const [index, name] of names.entries()) {
      await spend(account, 1 << index, { model: name, keyId: `${name}'`, [`tag.${name}`]: `\\${name}` });
    }
    await expectSumsToMatch(account);
    for (const by of [names, names.toReversed(), ["key", "__proto__", "day", "model"]]) {
      const sums = await usageOf(account, by);
      expect(sums).toHaveLength(names.length);
      expect(sums.map((sum) => Object.keys(sum.by))).toEqual(names.map(() => by));
    }
    const [, first] = await usageOf(account, ["__proto__"]);
    expect(Object.getOwnPropertyDescriptor(first?.by, "__proto__")?.value).toBe("\\__proto__");
  });

  it("lose no charge to tags of other types, or to more tokens than can be counted", async () => {
    const { account } = await makePlace();
    const most = Number.MAX_SAFE_INTEGER;
    await spend(account, 1, { model: 5, keyId: 6, input: "many", output: "7", "tag.team": 8 });
    await spend(account, 2, { input: 1e300, cachedInput: -1e300, output: most });
    await spend(account, most, { output: most });
    await spend(account, most, { output: most });
    expect(await usageOf(account, ["model", "key", "team"])).toEqual([
      {
        by: { model: null, key: null, team: null },
        requests: 4,
        chargedMicro: most,
        tokens: { input: most, cachedInput: -most, output: most, reasoning: 0 },
      },
    ]);
  });

  it("are one sum for all that expires at once", async () => {
    const { account, schema } = await makePlace();
    await account.ledger.topUp?.({ id: unique("bought"), account: account.id, amountMicro: 100 });
    const leases = [await account.admit(10), await account.admit(10)];
    account.plan = { week: 0 };
    leases.push(await account.admit(10), await account.admit(10));
    await account.ledger.renew(leases.map((lease, index) => ({ lease, observedMicro: 1 + index, leaseMs: minute })));
    account.clock.advance(hour);
    await account.ledger.reset(account.id, ["week"]);
    expect(await usageOf(account, ["funding"])).toMatchObject([
      { by: { funding: "plan" }, requests: 0, chargedMicro: 3 },
      { by: { funding: "prepaid" }, requests: 0, chargedMicro: 7 },
    ]);
    expect(await count(schema)).toBe(2);
    await expectSumsToMatch(account);
  });

  it("are not kept for what was released and cost nothing", async () => {
    const { account, schema } = await makePlace();
    await account.ledger.release(await account.admit(10));
    expect(await count(schema)).toBe(0);
  });

  it("go with their account, however many, and with no other", async () => {
    const { account, schema } = await makePlace();
    await account.spend(10);
    await pool.query(
      `insert into ${schema}.usage_sum (account, day, tag_set, digest, prepaid, tags, requests, micro)
       select a, d, '', '', false, '{}', 1, 1
       from generate_series(1, 12000) d, (values ($1), ('other')) as v (a)`,
      [account.id],
    );
    await account.ledger.forget(account.id);
    expect([await count(schema, `account = '${account.id}'`), await count(schema)]).toEqual([0, 12_000]);
    expect(await usageOf(account, ["day"])).toEqual([]);
    await account.spend(3);
    expect(await usageOf(account, ["model"])).toMatchObject([{ requests: 1, chargedMicro: 3 }]);
  });

  it("are updated in place: no index has a column that changes, and each page has room", async () => {
    const { schema } = await makePlace();
    const { rows } = await pool.query(
      "select indexdef from pg_indexes where schemaname = $1 and tablename = 'usage_sum'",
      [schema],
    );
    expect(rows).toHaveLength(3);
    for (const { indexdef } of rows) {
      expect(indexdef).not.toMatch(/requests|micro|input|cache|output|reasoning|sliced/);
    }
    const { rows: options } = await pool.query(
      `select reloptions from pg_class where oid = '${schema}.usage_sum'::regclass`,
    );
    expect(options[0].reloptions).toContain("fillfactor=50");
  });

  it.each([
    { by: [] },
    { by: ["a", "a"] },
    { by: Array.from({ length: 17 }, (_, n) => `${n}`) },
    { by: ["a"], from: 0.5 },
  ])("refuse %j", async (request) => {
    const { account } = await makePlace();
    await expect(account.ledger.usage?.({ account: account.id, ...request })).rejects.toMatchObject({
      name: "LedgerInputError",
    });
  });
});
