import { describe, expect, it } from "vitest";
import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import {
  type CreditLedger,
  type Lease,
  LedgerInputError,
  LedgerUnavailableError,
  type ReserveRequest,
} from "../../../src/ledger/credit-ledger.js";
import type { NamedLimits } from "../../../src/ledger/rules/account-limits.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { sqliteKeyStore, sqlitePlanStore } from "../../../src/stores/sqlite/sqlite-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { databaseFolders } from "./database-folders.js";
import { FailingDatabase } from "./failing-database.js";

const minute = 60_000;
const start = Date.UTC(2026, 2, 11, 9, 30);
const credits = { session: 1_000, week: 5_000, month: 15_000 };
const limits = windowLimits({ credits, sessionMs: 5 * 3_600_000, now: start });

const newFolder = databaseFolders();

const named: NamedLimits = {
  caps: [{ id: "key/day", window: "day", limitMicro: 1_000, bounds: capBounds("day", undefined, start) }],
  rates: [{ id: "key/tokens", kind: "tokens", take: 40, limit: 100, burst: 100 }],
};

function reserve(ledger: CreditLedger, id: string, amountMicro = 30): Promise<Lease> {
  return leaseOf(ledger, { id, account: "a", amountMicro, limits, leaseMs: minute });
}

type Leases = Record<"open" | "dead" | "prepaid", Lease>;

/** No window admits it. */
function prepaidRequest(id: string): ReserveRequest {
  const none = windowLimits({ credits: { ...credits, week: 0 }, sessionMs: 5 * 3_600_000, now: start });
  return { id, account: "a", amountMicro: 30, limits: none, leaseMs: 10 * minute, ...named };
}

async function leaseOf(ledger: CreditLedger, request: ReserveRequest): Promise<Lease> {
  const result = await ledger.reserve(request);
  if (!result.ok) throw new Error("It should have been admitted.");
  return result.lease;
}

/** All that the ledger has stored. */
function contents(database: SqliteDatabase): unknown {
  return ["account", "entry", "meta", "forgotten", "cap", "bucket"].map((table) =>
    database
      .prepare(`SELECT * FROM infergate_${table} ORDER BY 1, 2`)
      .all()
      .map((row) => ({ ...(row as object), _metadata: undefined })),
  );
}

/** What can be done to account "a", after `prepare`; `dead` has expired by then with 12 seen, `open` is held. */
const operations: Record<string, (ledger: CreditLedger, leases: Leases) => Promise<unknown>> = {
  reserve: (ledger) => ledger.reserve({ id: "new", account: "a", amountMicro: 5, limits, leaseMs: minute }),
  "renew, settle late": async (ledger, { open, dead }) => [
    await ledger.renew([
      { lease: open, observedMicro: 50, leaseMs: minute },
      { lease: dead, observedMicro: 20, leaseMs: minute },
    ]),
    await ledger.settle(dead, { amountMicro: 25, tags: { keyId: "k" } }),
  ],
  settle: (ledger, { open }) => ledger.settle(open, { amountMicro: 25, tags: { keyId: "k" } }),
  release: (ledger, { open }) => ledger.release(open),
  recover: (ledger, { open }) => ledger.settle({ ...open, id: "unknown" }, { amountMicro: 7 }),
  grant: (ledger) => ledger.grant({ id: "g", account: "a", window: "week", amountMicro: 5, limits }),
  reset: (ledger) => ledger.reset("a", ["session", "week"]),
  forget: (ledger) => ledger.forget("a"),
  "reserve by prepaid credits": (ledger) => ledger.reserve(prepaidRequest("new")),
  "settle what prepaid credits fund": (ledger, { prepaid }) =>
    ledger.settle(prepaid, { amountMicro: 25, rates: [{ id: "key/tokens", actual: 9 }] }),
  topUp: async (ledger) =>
    (await ledger.topUp?.({ id: "t", account: "a", amountMicro: 5, expiresAt: start + 9 * minute }))?.lots,
  balance: (ledger) => ledger.balance("a", limits, named),
  history: async (ledger) => (await ledger.history?.({ account: "a" }))?.entries.length,
};

async function prepare(database: SqliteDatabase): Promise<Leases & { ledger: CreditLedger }> {
  const clock = new ManualClock(start);
  const ledger = sqliteCreditLedger({ database, clock });
  await ledger.settle(await reserve(ledger, "spent"), { amountMicro: 10 });
  const dead = await reserve(ledger, "dead");
  await ledger.renew([{ lease: dead, observedMicro: 12, leaseMs: minute }]);
  clock.advance(30_000);
  const open = await reserve(ledger, "open");
  await ledger.topUp?.({ id: "paid", account: "a", amountMicro: 100 });
  const prepaid = await leaseOf(ledger, prepaidRequest("prepaid"));
  clock.advance(30_000);
  return { ledger, open, dead, prepaid };
}

describe.each(Object.entries(operations))("when the database fails in %s", (_, operate) => {
  it("has done nothing, and does the whole the next time", async () => {
    const reference = newFolder().open();
    const { ledger: sound, ...leases } = await prepare(reference);
    const expected = await operate(sound, leases);

    for (let statements = 0; ; statements++) {
      const database = newFolder().open();
      const failing = new FailingDatabase(database);
      const { ledger } = await prepare(failing);
      const before = contents(database);
      failing.failAfter(statements);
      const result = await operate(ledger, leases).catch((error: unknown) => error);
      if (!failing.stopFailing()) {
        expect(statements).toBeGreaterThan(0);
        break;
      }
      expect(result).toBeInstanceOf(LedgerUnavailableError);
      expect((result as Error).cause).toMatchObject({ message: expect.stringContaining("Not this one") });
      if (!atOnce.has(operate)) {
        await operate(ledger, leases);
        continue;
      }
      expect(contents(database)).toEqual(before);
      expect(await operate(ledger, leases)).toEqual(expected);
      if (operate !== operations["reset"]) expect(contents(database)).toEqual(contents(reference));
    }
  });
});

/** The operations that are one transaction. */
const atOnce = new Set(
  Object.entries(operations).flatMap(([name, operate]) =>
    name === "renew, settle late" || name === "forget" ? [] : [operate],
  ),
);

describe("sqliteCreditLedger", () => {
  it("does not wait for readers, nor readers for it", async () => {
    const folder = newFolder();
    const [database, other] = [folder.open(), folder.open()];
    const ledger = sqliteCreditLedger({ database, clock: new ManualClock(start) });
    other.exec("BEGIN");
    const count = other.prepare("SELECT count(*) AS count FROM infergate_entry");
    expect(count.get()).toMatchObject({ count: 0 });
    await reserve(ledger, "open");
    expect(count.get()).toMatchObject({ count: 0 });
    other.exec("COMMIT");
    expect(count.get()).toMatchObject({ count: 1 });
  });

  it("leaves a transaction of its host's alone", async () => {
    const database = newFolder().open();
    const ledger = sqliteCreditLedger({ database, clock: new ManualClock(start) });
    database.exec("CREATE TABLE hosts (x); BEGIN; INSERT INTO hosts VALUES (1)");
    await expect(reserve(ledger, "open")).rejects.toBeInstanceOf(LedgerUnavailableError);
    await expect(ledger.balance("a", limits)).rejects.toBeInstanceOf(LedgerUnavailableError);
    database.exec("COMMIT");
    expect(database.prepare("SELECT x FROM hosts").all()).toHaveLength(1);
    await reserve(ledger, "open");
  });

  it("survives a full disk: what could not be written has not happened", async () => {
    const database = newFolder().open();
    const ledger = sqliteCreditLedger({ database, clock: new ManualClock(start) });
    const first = await reserve(ledger, "first", 1);
    database.exec("PRAGMA max_page_count = 1");
    const admitted: Lease[] = [first];
    const tags = { note: "x".repeat(500) };
    let error: unknown;
    for (let call = 0; error === undefined && call < 10_000; call++) {
      try {
        admitted.push(await reserve(ledger, `call-${call}`, 0));
        await ledger.settle(admitted.at(-1) as Lease, { amountMicro: 0, tags });
      } catch (thrown) {
        error = thrown;
      }
    }
    expect(error).toMatchObject({ name: "LedgerUnavailableError", cause: { code: "SQLITE_FULL" } });
    const before = contents(database);
    const long = { amountMicro: 0, tags: { note: "x".repeat(9_000) } };
    await expect(ledger.settle(first, long)).rejects.toBeInstanceOf(LedgerUnavailableError);
    expect(contents(database)).toEqual(before);
    expect((await ledger.balance("a", limits)).windows.week).toMatchObject({ usedMicro: 0, heldMicro: 1 });

    database.exec("PRAGMA max_page_count = 1000000");
    for (const lease of admitted) await ledger.settle(lease, { amountMicro: 0, tags });
    await ledger.settle(await reserve(ledger, "late"), { amountMicro: 3 });
    expect((await ledger.balance("a", limits)).windows.week).toMatchObject({ usedMicro: 3, heldMicro: 0 });
    expect(database.prepare("PRAGMA integrity_check").all()).toMatchObject([{ integrity_check: "ok" }]);
  });

  it("takes no text that a driver would alter, as two of them could become one", async () => {
    const database = newFolder().open();
    const ledger = sqliteCreditLedger({ database, clock: new ManualClock(start) });
    const lease = await reserve(ledger, "open");
    for (const text of ["a\0", "\0", "a\u{d800}", "\u{dc00}"]) {
      const request = { id: "x", account: text, amountMicro: 1, limits, leaseMs: minute };
      const calls = [
        ledger.reserve(request),
        ledger.reserve({ ...request, id: text, account: "a" }),
        ledger.settle({ ...lease, account: text }, { amountMicro: 1 }),
        ledger.settle({ ...lease, id: text }, { amountMicro: 1 }),
        ledger.release({ ...lease, id: text }),
        ledger.renew([{ lease: { ...lease, id: text }, observedMicro: 1, leaseMs: minute }]),
        ledger.balance(text, limits),
        ledger.grant({ id: text, account: "a", window: "week", amountMicro: 1, limits }),
        ledger.reset(text, ["week"]),
        ledger.history?.({ account: text }),
        ledger.forget(text),
      ];
      for (const call of calls) await expect(call).rejects.toBeInstanceOf(LedgerInputError);
    }
    expect((await ledger.balance("a", limits)).windows.week).toMatchObject({ usedMicro: 0, heldMicro: 30 });
  });

  it("does not take a request for a grant, though their ids are the same", async () => {
    const ledger = sqliteCreditLedger({ database: newFolder().open(), clock: new ManualClock(start) });
    const lease = await reserve(ledger, "same");
    await ledger.renew([{ lease, observedMicro: 1, leaseMs: minute }]);
    const grant = { id: "same", account: "a", window: "week", amountMicro: 30, limits } as const;
    for (let time = 0; time < 2; time++) expect((await ledger.grant(grant)).week.bonusMicro).toBe(30);
    expect((await ledger.settle(lease, { amountMicro: 2 })).status).toBe("settled");
    expect((await ledger.history?.({ account: "a" }))?.entries.map(({ kind }) => kind)).toEqual(["charge", "grant"]);
  });

  it("writes at the durability it is told", () => {
    const folder = newFolder();
    for (const [durability, synchronous] of [
      ["normal", 1],
      ["full", 2],
      [undefined, 1],
    ] as const) {
      const database = folder.open();
      sqliteCreditLedger({ database, durability });
      expect(database.prepare("PRAGMA synchronous").get()).toMatchObject({ synchronous });
      expect(database.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
    }
    expect(() => sqliteCreditLedger({ database: folder.open(), durability: "none" as "full" })).toThrow(RangeError);
  });
});

describe("sqliteKeyStore and sqlitePlanStore", () => {
  it("take no text that a driver would alter", async () => {
    const database = newFolder().open();
    const [keys, plans] = [sqliteKeyStore({ database }), sqlitePlanStore({ database })];
    const key = { id: "k", hash: "h", hint: "", account: "a", plan: "p", createdAt: 1 };
    await keys.insert(key);
    await plans.put({ id: "p", models: [] });
    for (const end of ["\0", "\0x", "\u{d800}"]) {
      expect(await keys.find(`h${end}`)).toBeUndefined();
      expect(await keys.get(`k${end}`)).toBeUndefined();
      expect(await keys.list(`a${end}`)).toEqual([]);
      expect(await keys.update(`k${end}`, { plan: "q" })).toBeUndefined();
      expect(await keys.forget(`a${end}`)).toEqual([]);
      expect(await plans.find(`p${end}`)).toBeUndefined();
      for (const member of ["id", "hash", "account", "plan"] as const) {
        const other = { ...key, id: "k2", hash: "h2", [member]: `x${end}` };
        await expect(keys.insert(other)).rejects.toBeInstanceOf(TypeError);
      }
      await expect(plans.put({ id: `p${end}`, models: [] })).rejects.toBeInstanceOf(TypeError);
    }
    expect(await keys.list("a")).toHaveLength(1);
  });
});
