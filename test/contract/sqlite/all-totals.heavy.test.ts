import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { TotalsRequest } from "../../../src/ledger/usage/usage-request.js";
import { TotalSums } from "../../../src/ledger/usage/usage-sums.js";
import { JournalTable } from "../../../src/stores/sqlite/ledger/journal-table.js";
import { SqliteConnection } from "../../../src/stores/sqlite/sqlite-connection.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { TotalsRollUp } from "../../../src/stores/sqlite/usage/totals-roll-up.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { DatabaseFolder } from "./open-database.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const quarter = 15 * minute;
const midnight = Date.UTC(2026, 2, 12);
const accounts = ["a", "b", "c"];
const folders: DatabaseFolder[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

let database: SqliteDatabase;
let clock: ManualClock;
let ledger: CreditLedger;
let rollUp: () => boolean;
let serial = 0;

function open(retentionMs?: number): void {
  const folder = new DatabaseFolder();
  folders.push(folder);
  database = folder.open();
  clock = new ManualClock(midnight + hour);
  ledger = sqliteCreditLedger({ database, clock, retentionMs });
  const connection = new SqliteConnection({ database });
  const sums = new TotalsRollUp(connection);
  rollUp = () => connection.transaction(() => sums.step(clock.now()));
}

beforeEach(() => open());

type Tags = Readonly<Record<string, string | number>>;

async function spend(account: string, amountMicro: number, tags: Tags = {}, week: number | null = null): Promise<void> {
  const credits = { session: null, week, month: null };
  const limits = windowLimits({ credits, sessionMs: 5 * hour, now: clock.now() });
  const request = {
    id: `id-${++serial}`,
    account,
    amountMicro: week === null ? 0 : amountMicro,
    limits,
    leaseMs: minute,
  };
  const result = await ledger.reserve(request);
  if (result.ok) await ledger.settle(result.lease, { amountMicro, tags: { input: 3, ...tags } });
}

async function expectTotals(request: TotalsRequest): Promise<void> {
  const expected = new TotalSums(request);
  for (const account of accounts) {
    let cursor: string | undefined;
    do {
      const page = await ledger.history?.({ account, cursor });
      for (const entry of page?.entries ?? []) expected.addEntry(account, entry);
      cursor = page?.cursor;
    } while (cursor !== undefined);
  }
  const totals = await ledger.totals?.(request);
  expect({ request, totals }).toEqual({ request, totals: expected.list() });
}

function rows(table: string): Readonly<Record<string, unknown>>[] {
  return database.prepare(`SELECT * FROM infergate_${table}`).all() as Readonly<Record<string, unknown>>[];
}

const dimensions = [
  [],
  ["account"],
  ["plan", "model", "target"],
  ["key", "funding"],
  ["tag.team", "model"],
  ["account", "tag.team"],
];
const whole = { periods: [midnight, midnight + 2 * day], where: {} };

describe("sums over all accounts", () => {
  const text = fc.constantFrom("m", "n", "", '"', "\0", "\ud83d", "?");
  const tags = fc.record(
    {
      plan: text,
      model: fc.oneof(text, fc.constant(5)),
      target: text,
      keyId: text,
      costMicro: fc.nat(9),
      "tag.team": text,
    },
    { requiredKeys: [] },
  );
  const step = fc.oneof(
    fc.record({ kind: fc.constant("spend" as const), account: fc.constantFrom(...accounts), amount: fc.nat(9), tags }),
    fc.record({
      kind: fc.constant("move" as const),
      ms: fc.constantFrom(1, minute, 20 * minute, 7 * hour, day, -minute, -hour, -day),
    }),
    fc.record({ kind: fc.constant("topUp" as const), account: fc.constantFrom(...accounts) }),
    fc.record({ kind: fc.constant("sum" as const) }),
    fc.record({ kind: fc.constant("forget" as const), account: fc.constantFrom(...accounts) }),
  );
  const moment = fc.oneof(
    fc.integer({ min: -3, max: 6 }).map((days) => midnight + days * day),
    fc.integer({ min: -99, max: 400 }).map((quarters) => midnight + quarters * 15 * minute),
    fc.integer({ min: midnight - day, max: midnight + 5 * day }),
  );
  const request = fc.record({
    periods: fc
      .uniqueArray(moment, { minLength: 2, maxLength: 6 })
      .map((moments) => moments.sort((one, other) => one - other)),
    by: fc.constantFrom(...dimensions),
    where: fc.constantFrom({}, {}, { model: ["m", null] }, { plan: ["n", ""], funding: ["plan"] }),
  });

  it("are there for all of time by account, while nothing is summed up", async () => {
    const request = { periods: [-8_640_000_000_000_000, 8_640_000_000_000_000], by: ["account"], where: {} };
    expect(await ledger.totals?.(request)).toEqual([]);
    await spend("a", 5);
    expect(await ledger.totals?.(request)).toMatchObject([{ by: ["a"], chargedMicro: 5 }]);
  });

  it("equal the journals' after any history, for any time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.array(request, { minLength: 5, maxLength: 5 }),
        async (steps, requests) => {
          open();
          for (const given of steps) {
            if (given.kind === "spend") await spend(given.account, given.amount, given.tags as Tags);
            else if (given.kind === "move") clock.advance(given.ms);
            else if (given.kind === "topUp")
              await ledger.topUp?.({ id: `topup-${++serial}`, account: given.account, amountMicro: 9 });
            else if (given.kind === "sum") rollUp();
            else await ledger.forget(given.account);
          }
          for (const asked of requests) await expectTotals(asked);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("have what the plan and prepaid credits paid together with each of them", async () => {
    await ledger.topUp?.({ id: "bought", account: "a", amountMicro: 100 });
    for (const amount of [14, 5]) await spend("a", amount, { keyId: "k" }, 10);
    clock.advance(1);
    rollUp();
    for (const by of [["funding"], ["key", "funding"]]) await expectTotals({ ...whole, by });
    const fundings = new Map(rows("usage_series").map(({ id, funding }) => [id, funding]));
    const paid = rows("usage_series_day").map((row) => [fundings.get(row["series"]), row["requests"], row["charged"]]);
    expect(paid).toEqual([
      ["plan", 1, 10],
      ["prepaid", 1, 9],
    ]);
  });

  it("are made of so many entries at a time, also where all are of one moment", async () => {
    for (let call = 0; call < 600; call++) await spend(accounts[call % 3] as string, 1, { model: `m${call % 4}` });
    for (const by of dimensions) await expectTotals({ ...whole, by });
    clock.advance(1);
    for (const by of dimensions) await expectTotals({ ...whole, by });
    expect(rows("usage_series_day").length).toBe(12);
    for (let call = 0; call < 600; call++) {
      clock.advance(1);
      await spend(accounts[call % 3] as string, 1, { model: `m${call % 4}` });
    }
    // Nobody has asked: settlements have done it.
    expect(rows("usage_quarter").reduce((all, { requests }) => all + Number(requests), 0)).toBeGreaterThan(800);
    for (const by of dimensions) await expectTotals({ ...whole, by });
  });

  it("know some sets of tags of a quarter, and beyond those the journal does", async () => {
    for (let call = 0; call < 70; call++) {
      await spend("a", 1, { "tag.team": `t${call}` });
      clock.advance(1);
      rollUp();
    }
    expect(rows("usage_quarter").length).toBe(65);
    for (const by of dimensions) await expectTotals({ ...whole, by });
  });

  it("are read page by page, where a time zone divides a day and where a moment divides a quarter", async () => {
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
      INSERT INTO infergate_entry (id, part, account, kind, at, sequence, amount, month_start, tags)
      SELECT 'bulk-' || i, 0, 'a', 'charge', ${midnight} + i * 10000, i, i, 0,
        json_object('keyId', 'k' || (i % 5000), 'input', i) FROM n;
      INSERT INTO infergate_account (id, sequence, session_used, session_held, session_bonus, week_used, week_held,
        week_bonus, month_used, month_held, month_bonus) VALUES ('a', 12000, 0, 0, 0, 0, 0, 0, 0, 0, 0)`);
    await spend("b", 5);
    clock.advance(2 * day);
    while (rollUp()) {}
    const read = vi.spyOn(JournalTable.prototype, "ofAll");
    const zone = [midnight - 5.5 * hour, midnight + 18.5 * hour, midnight + 42.5 * hour];
    for (const by of [["account"], ["key"]]) {
      await expectTotals({ periods: [midnight, midnight + day], by, where: {} });
      await expectTotals({ periods: zone, by, where: {} });
      await expectTotals({ periods: [midnight, midnight + 12 * hour], by, where: {} });
      await expectTotals({ periods: [midnight + hour, midnight + 3 * hour], by, where: { key: ["k7", "k8"] } });
    }
    // Sums know all of it.
    expect(read).not.toHaveBeenCalled();
    await expectTotals({ periods: [midnight + minute, midnight + 20 * hour + 1], by: ["key"], where: {} });
    expect(read).toHaveBeenCalled();
    read.mockRestore();
  });

  it("keep a quarter whose day comes to nothing", async () => {
    await spend("a", 5, { keyId: "k" });
    clock.advance(hour);
    rollUp();
    // They come late, so that the day is looked at.
    database.exec(`
      INSERT INTO infergate_entry (id, part, account, kind, at, sequence, amount, month_start, tags)
      VALUES ('one', 1, 'b', 'checkpoint', ${midnight + minute}, 1, 5, 0, '{"keyId":"k"}'),
        ('two', 1, 'b', 'release', ${midnight + minute + quarter}, 2, -5, 0, '{"keyId":"k"}')`);
    for (const by of [["account"], ["key"], []]) {
      await expectTotals({ periods: [midnight, midnight + quarter, midnight + day], by, where: {} });
    }
    expect(rows("usage_series_quarter").map(({ charged }) => charged)).toContain(-5);
  });

  it("have what is used up, what it cost, and nothing of a forgotten account", async () => {
    await spend("a", 5, { keyId: "k", costMicro: 3 });
    await spend("a", 6);
    clock.advance(hour);
    rollUp();
    expect(rows("usage_series_day").map(({ charged, cost, costed }) => [charged, cost, costed])).toEqual([
      [5, 3, 5],
      [6, 0, 0],
    ]);
    await ledger.forget("a");
    for (const table of ["usage_series", "usage_series_day", "usage_series_quarter", "usage_quarter", "totals_change"])
      expect(rows(table)).toEqual([]);
  });

  it("have what a process that knows none has written late, and lack what it has deleted", async () => {
    await spend("a", 5);
    await spend("b", 6);
    clock.advance(hour);
    rollUp();
    clock.advance(-hour);
    await spend("a", 7);
    database.exec("DELETE FROM infergate_entry WHERE account = 'b'");
    expect(rows("totals_change").map(({ sign, amount }) => [sign, amount])).toEqual([
      [1, 7],
      [-1, 6],
    ]);
    for (const by of dimensions) await expectTotals({ ...whole, by });
    expect(rows("totals_change")).toEqual([]);
  });

  it("go when the journal goes", async () => {
    open(2 * day);
    for (let call = 0; call < 40; call++) await spend("a", 1);
    clock.advance(hour);
    rollUp();
    clock.advance(4 * day);
    for (let call = 0; call < 200; call++) await spend("b", 1);
    for (let call = 0; call < 200; call++) await spend("a", 1);
    clock.advance(1);
    rollUp();
    const days = new Set(rows("usage_series_day").map((row) => Number(row["day"])));
    expect([...days]).toEqual([midnight / day + 4]);
    expect(rows("totals_change")).toEqual([]);
    expect(rows("usage_quarter").every(({ quarter }) => Number(quarter) >= midnight / (15 * minute) + 4 * 96)).toBe(
      true,
    );
    for (const by of dimensions)
      await expectTotals({ periods: [midnight + 3 * day, midnight + 5 * day], by, where: {} });
  });

  it("do not answer for what was written before they were kept", async () => {
    await spend("a", 5);
    clock.advance(day);
    await spend("b", 6);
    clock.advance(day);
    await spend("c", 7);
    database.exec(`UPDATE infergate_totals SET since = ${midnight + day}, until = ${midnight + day}`);
    for (const by of dimensions) {
      await expectTotals({ periods: [midnight, midnight + day / 2, midnight + 3 * day], by, where: {} });
      await expectTotals({ periods: [midnight, midnight + 2 * hour], by, where: {} });
    }
    clock.advance(1);
    rollUp();
    expect(rows("usage_series_day").map(({ charged }) => charged)).toEqual([6, 7]);
  });
});
