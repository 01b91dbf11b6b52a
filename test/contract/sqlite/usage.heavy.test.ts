import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { type CreditLedger, type Lease, LedgerInputError } from "../../../src/ledger/credit-ledger.js";
import type { UsageSum } from "../../../src/ledger/usage/usage-request.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { expectSumsToMatch, sumsOf } from "../../../src/testing/credit-ledger-journal/usage-rules.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { turnsOf } from "../../support/turns-of.js";
import { DatabaseFolder, drivers } from "./open-database.js";
import { sumUp } from "./summing-ledger.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 2, 11, 9, 30);
const midnight = Date.UTC(2026, 2, 12);
const id = "a";
const folders: DatabaseFolder[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

let folder: DatabaseFolder;
let database: SqliteDatabase;
let clock: ManualClock;
let ledger: CreditLedger;
let serial = 0;

function open(driver?: ConstructorParameters<typeof DatabaseFolder>[0], retentionMs?: number): void {
  folder = new DatabaseFolder(driver);
  folders.push(folder);
  database = folder.open();
  clock = new ManualClock(start);
  ledger = sqliteCreditLedger({ database, clock, retentionMs });
}

beforeEach(() => open());

async function reserve(account: string, amountMicro: number, week: number | null): Promise<Lease> {
  const credits = { session: null, week, month: null };
  const limits = windowLimits({ credits, sessionMs: 5 * hour, now: clock.now() });
  const result = await ledger.reserve({ id: `id-${++serial}`, account, amountMicro, limits, leaseMs: minute });
  if (!result.ok) throw new Error("It should have been admitted.");
  return result.lease;
}

type Tags = Readonly<Record<string, string | number>>;

async function spend(tags: Tags = {}, account = id, amountMicro = 1): Promise<void> {
  await ledger.settle(await reserve(account, 0, null), { amountMicro, tags: { model: "m", input: 2, ...tags } });
}

async function usage(by: readonly string[], range: { from?: number; to?: number } = {}) {
  return (await ledger.usage?.({ account: id, by, ...range })) ?? [];
}

function rows(where = "TRUE", table = "infergate_usage_hour"): number {
  const row = database.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${where}`).get();
  return Number((row as { count: number }).count);
}

const requestsOf = (sums: readonly UsageSum[]) => sums.reduce((all, { requests }) => all + requests, 0);

describe("the sums", () => {
  const text = fc.constantFrom("m", "n", "", "a\0b", "\ud83d", '"', "tag.x", "?", "{}", "\u{1f600}", "5", "null");
  const tagName = fc.constantFrom("team", "__proto__", "constructor", 'a"b', "", "day", "a.b", "\0", "$");
  const tags = fc.record(
    {
      model: fc.oneof(text, fc.constant(5)),
      keyId: text,
      input: fc.constantFrom<number | string>(0, 7, 1.5, -2, 1e21, "5"),
      cacheWrite: fc.nat(3),
      hosts: fc.dictionary(tagName, fc.oneof(text, fc.constant(3)), { maxKeys: 3 }),
    },
    { requiredKeys: ["hosts"] },
  );
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom("settle", "release", "die", "late"), tags, amount: fc.nat(20) }),
    fc.record({ kind: fc.constant("move"), ms: fc.constantFrom(1, minute, 7 * hour, day, 3 * day, -1, -hour, -day) }),
    fc.record({ kind: fc.constantFrom("sum", "topUp", "reset") }),
  );
  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

  async function take(given: Step): Promise<void> {
    if ("ms" in given) return clock.advance(given.ms);
    if (!("tags" in given)) {
      if (given.kind === "sum") sumUp(database, id);
      else if (given.kind === "reset") await ledger.reset(id, ["week"]);
      else await ledger.topUp?.({ id: `topup-${++serial}`, account: id, amountMicro: 1_000 });
      return;
    }
    const { hosts, ...own } = given.tags;
    const filed = Object.fromEntries(Object.entries(hosts).map(([name, tag]) => [`tag.${name}`, tag]));
    const lease = await reserve(id, 10, 100);
    if (given.kind === "release") await ledger.release(lease);
    if (given.kind === "die" || given.kind === "late") {
      await ledger.renew([{ lease, observedMicro: given.amount, leaseMs: minute }]);
      clock.advance(2 * minute);
    }
    if (given.kind === "settle" || given.kind === "late") {
      await ledger.settle(lease, { amountMicro: given.amount, tags: { ...own, ...filed } as Tags });
    }
  }

  it("of what the plan and prepaid credits paid together are each payer's, its request and tokens once", async () => {
    const pay = async (amountMicro: number) => {
      await ledger.settle(await reserve(id, amountMicro, 10), { amountMicro, tags: { output: amountMicro } });
    };
    await ledger.topUp?.({ id: "bought", account: id, amountMicro: 100 });
    for (const amount of [14, 5, 7]) await pay(amount);
    const paid = async () => {
      return (await usage(["funding"])).map(({ by, requests, chargedMicro, tokens }) => {
        return [by["funding"], requests, chargedMicro, tokens.output];
      });
    };
    const expected = [
      ["plan", 1, 10, 14],
      ["prepaid", 2, 4 + 12, 12],
    ];
    expect(await paid()).toEqual(expected);
    sumUp(database, id);
    expect(rows()).toBe(2);
    expect(await paid()).toEqual(expected);
    expect((await usage(["model"])).map(({ requests, chargedMicro }) => [requests, chargedMicro])).toEqual([[3, 26]]);
  });

  it("equal the journal's after any history, for any range", async () => {
    const moment = fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: -4, max: 10 }).map((days) => midnight + days * day),
      fc.integer({ min: -50, max: 200 }).map((hours) => midnight + hours * hour),
      fc.integer({ min: start - 3 * day, max: start + 12 * day }),
    );
    const by = fc.uniqueArray(fc.oneof(fc.constantFrom("day", "model", "key", "funding"), tagName), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.array(fc.record({ from: moment, to: moment, by }), { minLength: 6, maxLength: 6 }),
        async (steps, requests) => {
          clock.set(start);
          await ledger.topUp?.({ id: `topup-${++serial}`, account: id, amountMicro: 1_000 });
          for (const given of steps) await take(given);
          for (const { by: names, from, to } of requests) {
            const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
            const expected = await sumsOf({ ledger, id }, names, range);
            expect({ names, range, sums: await usage(names, range) }).toEqual({ names, range, sums: expected });
          }
          await ledger.forget(id);
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);

  it.each(Object.entries(drivers))("are those of all entries, by millions: %s", async (_, driver) => {
    open(driver);
    for (let call = 0; call < 700; call++) {
      await spend({ model: `m${call % 3}`, keyId: `k${call % 5}`, "tag.team": `t${call % 7}` }, id, 2 ** 50);
      clock.advance(11 * minute);
    }
    expect(rows()).toBeGreaterThan(100);
    await expectSumsToMatch({ ledger, id });
    await expectSumsToMatch({ ledger, id }, { from: midnight, to: midnight + 2 * day });
    await expectSumsToMatch({ ledger, id }, { from: midnight + 1, to: clock.now() });
  });

  it("are those of all parts of days of which the journal has more sets of tags than a day", async () => {
    for (let hours = 0; hours < 20; hours++) {
      clock.set(midnight + hours * hour + 7 * minute);
      for (let call = 0; call < 20; call++) await spend({ "tag.team": `t${hours}-${call}` });
      await spend();
      await spend({ "tag.team": "" });
    }
    clock.set(midnight + 2 * day);
    await spend();
    sumUp(database, id);
    expect(rows("tags = '?'", "infergate_usage")).toBe(1);
    expect(rows("tags = '?'")).toBe(0);
    const edge = fc.integer({ min: -60, max: 25 * 60 }).map((minutes) => midnight + minutes * minute);
    await expectSumsToMatch({ ledger, id });
    await fc.assert(
      fc.asyncProperty(edge, edge, (from, to) => expectSumsToMatch({ ledger, id }, { from, to })),
      { numRuns: 40 },
    );
  });

  it("count no more than can be counted", async () => {
    for (let call = 0; call < 300; call++) await spend({ input: 9e18, output: 3 });
    sumUp(database, id);
    const [sum] = await usage(["model"]);
    expect(sum).toMatchObject({ requests: 300, tokens: { output: 900 } });
    expect(sum?.tokens.input).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
  });

  it("count no text as tokens", async () => {
    await spend({ input: "5", output: 3 });
    sumUp(database, id);
    expect(await usage(["model"])).toMatchObject([{ requests: 1, tokens: { input: 0, output: 3 } }]);
  });

  it("stay where the host has turned on recursive triggers", async () => {
    database.exec("PRAGMA recursive_triggers = ON");
    for (let call = 0; call < 300; call++) await spend();
    sumUp(database, id);
    expect(rows()).toBe(1);
    await spend();
    expect(rows()).toBe(1);
    await expectSumsToMatch({ ledger, id });
  });

  it("count a call once that ends after others, but stands before them", async () => {
    for (let call = 0; call < 3; call++) await spend();
    sumUp(database, id);
    clock.advance(-2 * day);
    await spend({ "tag.team": "red" });
    await expectSumsToMatch({ ledger, id });
    for (let call = 0; call < 600; call++) await spend();
    expect(rows("requests > 500")).toBe(1);
    await expectSumsToMatch({ ledger, id });
    sumUp(database, id);
    await expectSumsToMatch({ ledger, id });
  });

  it("count a call once that ends late in its hour, and in the hour before", async () => {
    await spend();
    clock.advance(2 * hour + 10);
    await spend();
    sumUp(database, id);
    for (const ms of [-10, -hour, -hour, 2 * hour]) {
      clock.advance(ms);
      await spend();
      sumUp(database, id);
    }
    clock.advance(2 * day);
    await spend();
    sumUp(database, id);
    expect(requestsOf(await usage(["day"]))).toBe(7);
    await expectSumsToMatch({ ledger, id });
    await expectSumsToMatch({ ledger, id }, { from: start + hour, to: start + 2 * hour });
  });

  it("do not read the entries of whole hours", async () => {
    for (let hours = 0; hours < 6; hours++) {
      await spend();
      clock.advance(hour);
    }
    sumUp(database, id);
    database.exec(`UPDATE infergate_entry SET amount = 1000 WHERE at >= ${start + hour} AND at < ${start + 4 * hour}`);
    const [sum] = await usage(["day"], { from: start, to: start + 5 * hour });
    expect(sum).toMatchObject({ requests: 5, chargedMicro: 5 });
  });

  it("tell what prepaid credits paid", async () => {
    await ledger.topUp?.({ id: "payment", account: id, amountMicro: 50 });
    await ledger.settle(await reserve(id, 10, 100), { amountMicro: 100 });
    await ledger.settle(await reserve(id, 10, 100), { amountMicro: 7 });
    sumUp(database, id);
    expect(await usage(["funding"])).toMatchObject([
      { by: { funding: "plan" }, chargedMicro: 100 },
      { by: { funding: "prepaid" }, chargedMicro: 7 },
    ]);
  });

  it("refuse what no usage can be summed by", async () => {
    for (const by of [[], ["day", "day"], Array.from({ length: 17 }, (_, index) => `t${index}`)]) {
      await expect(usage(by)).rejects.toBeInstanceOf(LedgerInputError);
    }
    await expect(usage(["day"], { from: 0.5 })).rejects.toBeInstanceOf(LedgerInputError);
  });
});

describe("a long journal", () => {
  /** Writes entries without their calls. */
  function write(entries: number, everyMs: number): void {
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${entries})
      INSERT INTO infergate_entry (id, part, account, kind, at, sequence, amount, month_start, tags)
      SELECT 'e' || i, 0, '${id}', 'charge', ${start} + i * ${everyMs}, i, 1, 0,
        json_object('model', 'm' || (i % 3), 'input', i, 'tag.team', 't' || (i % 9)) FROM n;
      INSERT INTO infergate_account (id, sequence, session_used, session_held, session_bonus, week_used, week_held,
        week_bonus, month_used, month_held, month_bonus) VALUES ('${id}', ${entries}, 0, 0, 0, 0, 0, 0, 0, 0, 0)`);
  }

  it("is summed up some entries a turn, once", async () => {
    write(5_000, minute);
    const all = usage(["day"]);
    expect((await turnsOf(() => all)).turns).toBeGreaterThanOrEqual(5_000 / 256 - 1);
    expect(requestsOf(await all)).toBe(5_000);
    await expectSumsToMatch({ ledger, id });
    expect((await turnsOf(() => usage(["day"]))).turns).toBeLessThan(8);
    expect(requestsOf(await usage(["day"]))).toBe(5_000);
  });

  it("is summed up while its account is used, and not deleted before", async () => {
    open(undefined, 2 * day);
    write(5_000, minute);
    clock.set(start + 5_000 * minute + 30 * day);
    for (let call = 0; call < 32 * 30; call++) await spend();
    const { count } = database
      .prepare("SELECT count(*) AS count FROM infergate_entry WHERE sequence <= 5000")
      .get() as {
      count: number;
    };
    expect(count).toBeLessThan(5_000);
    expect(requestsOf(await usage(["day"]))).toBe(5_000 + 32 * 30);
  });

  it("gives its sums page by page", async () => {
    write(1, 1);
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3999)
      INSERT INTO infergate_usage SELECT '${id}', 20000 + i / 40, '', '"m"', '"k' || (i % 40) || '"', 'plan',
        2, 3, 4, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM n`);
    sumUp(database, id);
    const all = usage(["day", "key"], { to: 20_100 * day });
    expect((await turnsOf(() => all)).turns).toBeGreaterThanOrEqual(8);
    expect(await all).toHaveLength(4_000);
    expect(requestsOf(await all)).toBe(8_000);
  });
});

describe("sums without their journal", () => {
  beforeEach(() => open(undefined, 2 * day));

  it("stay for 400 days", async () => {
    for (let call = 0; call < 5; call++) {
      await spend({ "tag.team": "red" });
      clock.advance(day);
    }
    clock.set(start + 100 * day);
    for (let call = 0; call < 64; call++) await spend({}, "b");
    expect(await sumsOf({ ledger, id }, ["day"])).toEqual([]);
    expect(await usage(["day", "team"])).toMatchObject(
      ["15", "14", "13", "12", "11"].map((date) => ({ by: { day: `2026-03-${date}`, team: "red" }, requests: 1 })),
    );
    // The first day is divided, and the journal has nothing of it.
    expect(requestsOf(await usage(["day"], { from: start - 1 }))).toBe(4);
    expect(requestsOf(await usage(["day"], { from: start - 1, to: start + 2 * day }))).toBe(1);

    clock.set(Math.floor(start / day) * day + 400 * day + day - 1);
    for (let call = 0; call < 64; call++) await spend({}, "b");
    expect(requestsOf(await usage(["day"]))).toBe(5);
    clock.advance(1);
    for (let call = 0; call < 64; call++) await spend({}, "b");
    expect(requestsOf(await usage(["day"]))).toBe(4);
  });

  it("have no tags where there were too many, but lose no call", async () => {
    for (let call = 0; call < 700; call++) await spend({ "tag.team": `t${call}`, "tag.kind": "job" });
    sumUp(database, id);
    expect(rows()).toBeLessThan(500);
    expect(rows("tags = '?'")).toBe(1);
    await expectSumsToMatch({ ledger, id });
    expect(await usage(["team"])).toHaveLength(700);
    expect(await usage(["kind"])).toMatchObject([{ by: { kind: "job" }, requests: 700 }]);
    clock.advance(10 * day);
    for (let call = 0; call < 32 * 24; call++) await spend({}, "b");
    expect(await sumsOf({ ledger, id }, ["day"])).toEqual([]);
    const kept = await usage(["team"]);
    expect(requestsOf(kept)).toBe(700);
    expect(kept.find(({ by }) => by["team"] === null)?.requests).toBeGreaterThan(100);
    expect(requestsOf(await usage(["model"]))).toBe(700);
  });
});

describe("forgetting an account", () => {
  it("deletes its sums, and no others", async () => {
    for (const account of [id, "b"]) {
      for (let call = 0; call < 3; call++) {
        await spend({}, account);
        clock.advance(day);
      }
      sumUp(database, account);
    }
    await ledger.forget(id);
    expect(rows("account = 'a'")).toBe(0);
    expect(rows("account = 'b'")).toBe(3);
    expect(database.prepare("SELECT account FROM infergate_summed").all()).toMatchObject([{ account: "b" }]);
    await spend();
    await expectSumsToMatch({ ledger, id });
    sumUp(database, id);
    expect(requestsOf(await usage(["day"]))).toBe(1);
  });

  it("spares what it does meanwhile", async () => {
    for (let call = 0; call < 300; call++) {
      await spend();
      clock.advance(hour);
    }
    const forgotten = ledger.forget(id);
    await spend();
    sumUp(database, id);
    await forgotten;
    expect(requestsOf(await usage(["day"]))).toBe(1);
    await expectSumsToMatch({ ledger, id });
  });

  it("takes the sums with the last of the account", async () => {
    await spend();
    sumUp(database, id);
    database.exec("DELETE FROM infergate_entry; DELETE FROM infergate_account");
    expect(rows()).toBe(0);
    expect(await usage(["day"])).toEqual([]);
  });
});
