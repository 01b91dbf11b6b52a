import { afterAll, afterEach, describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger, HistoryRequest } from "../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { turnsOf } from "../../support/turns-of.js";

const charges = 2_100;
const limits = windowLimits({
  credits: { session: null, week: null, month: null },
  sessionMs: 18_000_000,
  now: Date.now(),
});

const folder = new DatabaseFolder();
const folders = [folder];
let test: TestGateway | undefined;
afterEach(() => test?.close());
afterAll(() => {
  for (const one of folders) one.remove();
});

/** A long journal. */
async function spend(ledger: CreditLedger): Promise<void> {
  const result = await ledger.reserve({ id: "first", account: "a", amountMicro: 1, limits, leaseMs: 60_000 });
  if (!result.ok) throw new Error("Nothing is limited here.");
  const { lease } = result;
  for (let index = 0; index < charges; index++) {
    const tags = { keyId: `key_${index % 3}`, model: `m${index % 2}`, input: 2, "tag.team": `t${index % 4}` };
    await ledger.settle({ ...lease, id: `call-${index}` }, { amountMicro: 1, tags });
  }
}

describe("the use of an account with a long journal", () => {
  it.each([
    ["memory", () => memoryCreditLedger({ historyEntries: charges })],
    ["SQLite", () => sqliteStores({ database: folder.open() }).ledger],
  ])("is summed a few entries at a time, with a turn for other work after each page: %s", async (_, make) => {
    const ledger = make();
    await spend(ledger);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const pages: { limit: number | undefined; entries: number; turns: number }[] = [];
    const history = async (request: HistoryRequest) => {
      const page = (await ledger.history?.(request)) ?? { entries: [] };
      pages.push({ limit: request.limit, entries: page.entries.length, turns });
      return page;
    };
    const withoutSums: CreditLedger = { ...ledger, history };
    delete withoutSums.usage;
    test = await startTestGateway({ ledger: withoutSums });
    setImmediate(count);
    const rows = await test.gateway.accounts.usage("a");
    isOver = true;

    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(charges);
    expect(rows.reduce((sum, { tokens }) => sum + tokens.input, 0)).toBe(2 * charges);
    expect(rows.length).toBeLessThanOrEqual(2 * 6);
    // Each entry is read once, and no page is long.
    expect(pages.reduce((sum, { entries }) => sum + entries, 0)).toBe(charges);
    for (const { limit } of pages) expect(limit).toBeLessThanOrEqual(250);
    for (const [index, page] of pages.entries()) {
      if (index > 0) expect(page.turns).toBeGreaterThan(pages[index - 1]?.turns as number);
    }
  });
});

describe("the use of many accounts", () => {
  const accounts = 900;
  const ofMany = new DatabaseFolder();
  folders.push(ofMany);

  it.each([
    ["memory", () => memoryCreditLedger({ historyEntries: charges }), 2],
    // It reads the sums of 64 accounts at once.
    ["SQLite", () => sqliteStores({ database: ofMany.open() }).ledger, Math.floor(accounts / 64)],
  ])("is added up with turns for other work, whatever each account has: %s", async (_, make, least) => {
    const ledger = make();
    for (let index = 0; index < accounts; index++) {
      const account = `account-${index}`;
      const id = `many-${index}`;
      const result = await ledger.reserve({ id, account, amountMicro: 1, limits, leaseMs: 60_000 });
      if (!result.ok) throw new Error("Nothing is limited here.");
      // In SQLite, some have nothing in their journal.
      if (index % 3 > 0) await ledger.settle(result.lease, { amountMicro: 1, tags: { model: "m" } });
    }
    test = await startTestGateway({ ledger });
    const { gateway } = test;
    const { turns, result: rows } = await turnsOf(() => gateway.usage({ by: ["account"] }));
    expect(rows).toHaveLength(600);
    expect(turns).toBeGreaterThanOrEqual(least);
  });
});

it("is the same by the sums of a store and by its journal", async () => {
  const own = new DatabaseFolder();
  folders.push(own);
  const { ledger } = sqliteStores({ database: own.open() });
  await spend(ledger);
  const withoutSums: CreditLedger = { ...ledger };
  delete withoutSums.usage;
  const usageOf = async (source: CreditLedger, by?: readonly string[]) => {
    test = await startTestGateway({ ledger: source });
    const { accounts } = test.gateway;
    const found = by === undefined ? await accounts.usage("a") : await accounts.usage("a", { by });
    await test.close();
    return found;
  };
  for (const by of [undefined, ["key"], ["day", "team", "funding"], ["constructor"]]) {
    const rows = await usageOf(ledger, by);
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(charges);
    expect(rows).toEqual(await usageOf(withoutSums, by));
  }
});
