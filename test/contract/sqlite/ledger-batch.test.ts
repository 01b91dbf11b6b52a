import { expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { type CreditLedger, LedgerConflictError, LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { databaseFolders } from "./database-folders.js";

const minute = 60_000;
const newFolder = databaseFolders();

/** A ledger whose statements are written down, and which can be made to fail. */
function setUp() {
  const database = newFolder().open();
  const statements: string[] = [];
  const poison = { value: undefined as unknown };
  const watched: SqliteDatabase = {
    exec: (sql) => {
      statements.push(sql);
      return database.exec(sql);
    },
    prepare: (sql) => {
      const statement = database.prepare(sql);
      const run =
        (method: "run" | "get" | "all") =>
        (...values: never[]) => {
          statements.push(sql.trim().split(/\s+/, 1)[0] as string);
          if (poison.value !== undefined && values.includes(poison.value as never)) throw new Error("Not this one.");
          return statement[method](...values);
        };
      return { run: run("run"), get: run("get"), all: run("all") as never };
    },
  };
  const clock = new ManualClock(Date.UTC(2026, 2, 11));
  const ledger = sqliteCreditLedger({ database: watched, clock });
  statements.length = 0;
  const count = (word: string) => statements.filter((statement) => statement.startsWith(word)).length;
  return { ledger, clock, database, count, poison };
}

const limitsOf = (session: number | null, now: number) =>
  windowLimits({ credits: { session, week: null, month: null }, sessionMs: 60 * minute, now });

function request(id: string, now: number, session: number | null = null, account = "a") {
  return { id, account, amountMicro: 10, limits: limitsOf(session, now), leaseMs: minute };
}

async function usedOf(ledger: CreditLedger, now: number, account = "a") {
  const { usedMicro, heldMicro } = (await ledger.balance(account, limitsOf(null, now))).windows.week;
  return { usedMicro, heldMicro };
}

it("joins what is asked for in one turn of the event loop", async () => {
  const { ledger, clock, count } = setUp();
  const ids = Array.from({ length: 100 }, (_, index) => `call-${index}`);
  const reserved = await Promise.all(ids.map((id) => ledger.reserve(request(id, clock.now()))));
  // 64 of them, and the rest.
  expect(count("BEGIN IMMEDIATE")).toBe(2);
  expect(count("COMMIT")).toBe(2);
  expect(reserved.every(({ ok }) => ok)).toBe(true);
  expect(await usedOf(ledger, clock.now())).toEqual({ usedMicro: 0, heldMicro: 1_000 });
});

it("lets each operation see what those before it have done", async () => {
  const { ledger, clock } = setUp();
  const now = clock.now();
  const strict = (id: string) => ledger.reserve({ ...request(id, now, 25), strict: true });
  // 25 credits: two calls of 10 fit, and a third one does when the first has given back 5.
  const [one, two, three] = await Promise.all([strict("1"), strict("2"), strict("3")]);
  expect([one?.ok, two?.ok, three?.ok]).toEqual([true, true, false]);
  if (!one?.ok) throw new Error("It was admitted.");
  const [settled, four] = await Promise.all([ledger.settle(one.lease, { amountMicro: 5 }), strict("4")]);
  expect([settled.status, four.ok]).toEqual(["settled", true]);
  expect(await usedOf(ledger, now)).toEqual({ usedMicro: 5, heldMicro: 20 });
});

it("lets a refused operation fail alone", async () => {
  const { ledger, clock } = setUp();
  const now = clock.now();
  await ledger.reserve(request("taken", now, null, "other"));
  const outcomes = await Promise.allSettled(["1", "taken", "2"].map((id) => ledger.reserve(request(id, now))));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(LedgerConflictError);
  expect(await usedOf(ledger, now)).toEqual({ usedMicro: 0, heldMicro: 20 });
});

it("does the others again where the database fails at one of them", async () => {
  const { ledger, clock, database, poison } = setUp();
  const now = clock.now();
  poison.value = "2";
  const outcomes = await Promise.allSettled(["1", "2", "3"].map((id) => ledger.reserve(request(id, now))));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(LedgerUnavailableError);
  expect(await usedOf(ledger, now)).toEqual({ usedMicro: 0, heldMicro: 20 });
  expect(database.prepare("SELECT id FROM infergate_entry ORDER BY id").all()).toMatchObject([
    { id: "1" },
    { id: "3" },
  ]);
  poison.value = undefined;
  expect((await ledger.reserve(request("2", now))).ok).toBe(true);
});

it("is waited for by close()", async () => {
  const { ledger, clock, database } = setUp();
  const reserved = Array.from({ length: 130 }, (_, index) => ledger.reserve(request(`${index}`, clock.now())));
  await ledger.close();
  expect(database.prepare("SELECT count(*) AS count FROM infergate_entry").get()).toMatchObject({ count: 130 });
  expect((await Promise.all(reserved)).every(({ ok }) => ok)).toBe(true);
});
