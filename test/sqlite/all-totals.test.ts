import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { CreditLedger } from "../../src/ledger/credit-ledger.js";
import { TotalSums } from "../../src/ledger/usage/total-sums.js";
import type { TotalsRequest } from "../../src/ledger/usage/usage-totals.js";
import { windowLimits } from "../../src/ledger/windows.js";
import { SqliteConnection } from "../../src/sqlite/sqlite-connection.js";
import { sqliteCreditLedger } from "../../src/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../src/sqlite/sqlite-database.js";
import { TotalsRollUp } from "../../src/sqlite/usage/totals-roll-up.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { DatabaseFolder } from "./open-database.js";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
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
  }, 60_000);

  it("have what the plan and prepaid credits paid together with each of them", async () => {
    await ledger.topUp?.({ id: "bought", account: "a", amountMicro: 100 });
    for (const amount of [14, 5]) await spend("a", amount, { keyId: "k" }, 10);
    clock.advance(1);
    rollUp();
    for (const by of [["funding"], ["key", "funding"]]) await expectTotals({ ...whole, by });
    const paid = rows("usage_account_day").map(({ funding, requests, charged }) => [funding, requests, charged]);
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
    expect(rows("usage_account_day").length).toBe(12);
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

  it("have what is used up, what it cost, and nothing of a forgotten account", async () => {
    await spend("a", 5, { keyId: "k", costMicro: 3 });
    await spend("a", 6);
    clock.advance(hour);
    rollUp();
    expect(rows("usage_account_day").map(({ charged, cost, costed }) => [charged, cost, costed])).toEqual([
      [6, 0, 0],
      [5, 3, 5],
    ]);
    await ledger.forget("a");
    for (const table of ["usage_account_day", "usage_quarter", "totals_change"]) expect(rows(table)).toEqual([]);
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
    const days = new Set(rows("usage_account_day").map((row) => Number(row["day"])));
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
    expect(rows("usage_account_day").map(({ charged }) => charged)).toEqual([6, 7]);
  });
});
