import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Lease } from "../../../src/ledger/credit-ledger.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";
import { sqlitePlanStore, sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { wholeAnswer } from "../../../src/testing.js";
import { chatRequest, getRequest, startTestGateway } from "../../support/test-gateway.js";
import { account, audit, limitsAt } from "./audit.js";
import { Child } from "./child.js";
import { databaseFolders } from "./database-folders.js";
import { sumUp } from "./summing-ledger.js";

const newFolder = databaseFolders();
afterEach(() => {
  vi.restoreAllMocks();
});

const leaseMs = 60_000;
const request = (id: string) => ({ id, account, amountMicro: 10, limits: limitsAt(Date.now()), leaseMs });
const newKey = (id: string) => ({ id, hash: hashKey(id), hint: "sk-…", account, plan: "p", createdAt: 1 });

/** Stores with a key and an open reservation, and another connection to the same file. */
async function setUp() {
  const folder = newFolder();
  const [database, other] = [folder.open(), folder.open()];
  const stores = sqliteStores({ database });
  await stores.keys.insert(newKey("first"));
  const reserved = await stores.ledger.reserve(request("open"));
  if (!reserved.ok) throw new Error("It should have been admitted.");
  return { ...stores, database, other, lease: reserved.lease };
}

type Stores = Awaited<ReturnType<typeof setUp>>;

const writes: Record<string, (stores: Stores) => Promise<unknown>> = {
  "ledger.reserve": ({ ledger }) => ledger.reserve(request("new")),
  "ledger.renew": ({ ledger, lease }) => ledger.renew([{ lease, observedMicro: 1, leaseMs }]),
  "ledger.settle": ({ ledger, lease }) => ledger.settle(lease, { amountMicro: 3 }),
  "ledger.release": ({ ledger, lease }) => ledger.release(lease),
  "ledger.grant": ({ ledger }) =>
    ledger.grant({ id: "g", account, window: "week", amountMicro: 1, limits: limitsAt(Date.now()) }),
  "ledger.reset": ({ ledger }) => ledger.reset(account, ["week"]),
  "ledger.forget": ({ ledger }) => ledger.forget(account),
  "keys.insert": ({ keys }) => keys.insert(newKey("second")),
  "keys.update": ({ keys }) => keys.update("first", { name: "laptop" }),
  "keys.forget": ({ keys }) => keys.forget(account),
  "plans.put": ({ plans }) => plans.put({ id: "p", models: [] }),
};

const reads: Record<string, (stores: Stores) => Promise<unknown>> = {
  "ledger.balance": ({ ledger }) => ledger.balance(account, limitsAt(Date.now())),
  "ledger.usage": async ({ ledger }) => ledger.usage?.({ account, by: ["tag.team"] }),
  "ledger.history": async ({ ledger }) => ledger.history?.({ account }),
  "keys.find": ({ keys }) => keys.find(hashKey("first")),
  "keys.get": ({ keys }) => keys.get("first"),
  "keys.list": ({ keys }) => keys.list(account),
  "plans.find": ({ plans }) => plans.find("p"),
};

/** A connection after each use of which another one locks the database, up to the next turn of the event loop. */
function contended(database: SqliteDatabase, other: SqliteDatabase): SqliteDatabase {
  let isContended = false;
  const use = <Result>(run: () => Result): Result => {
    const result = run();
    if (!isContended) {
      isContended = true;
      queueMicrotask(() => {
        other.exec("BEGIN EXCLUSIVE");
        setImmediate(() => {
          other.exec("COMMIT");
          isContended = false;
        });
      });
    }
    return result;
  };
  return {
    exec: (sql) => use(() => database.exec(sql)),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        run: (...values) => use(() => statement.run(...values)),
        get: (...values) => use(() => statement.get(...values)),
        all: (...values) => use(() => statement.all(...values)),
      };
    },
  };
}

describe("a database that another process has locked", () => {
  it.each(Object.entries(writes))("keeps nothing but %s waiting", async (_, write) => {
    const stores = await setUp();
    stores.other.exec("BEGIN EXCLUSIVE");
    let isDone = false;
    const written = write(stores).finally(() => {
      isDone = true;
    });
    // The event loop turns and timers fire, which they would not in a process that is blocked.
    for (let tick = 0; tick < 20; tick++) await sleep(1);
    expect(isDone).toBe(false);
    for (const read of Object.values(reads)) await read(stores);
    expect(isDone).toBe(false);
    stores.other.exec("COMMIT");
    await written;
  });

  it.each(Object.entries({ ...writes, ...reads }))("keeps nothing but %s waiting for all of it", async (_, work) => {
    const stores = await setUp();
    // No memory is shared then, so that others can neither write nor read.
    stores.database.exec("PRAGMA journal_mode = DELETE");
    stores.other.exec("BEGIN EXCLUSIVE");
    let isDone = false;
    const done = work(stores).finally(() => {
      isDone = true;
    });
    for (let tick = 0; tick < 10; tick++) await sleep(1);
    expect(isDone).toBe(false);
    stores.other.exec("COMMIT");
    await done;
  });

  it.each(Object.entries({ ...writes, ...reads }))("lets %s come to its end between its locks", async (_, work) => {
    const { database, other, lease, ledger } = await setUp();
    const ended = await ledger.reserve(request("ended"));
    if (ended.ok) await ledger.settle(ended.lease, { amountMicro: 1 });
    // What is summed up is read in one step after another.
    sumUp(database, account);
    const stores = sqliteStores({ database: contended(database, other) });
    // No memory is shared then, so that others can neither write nor read.
    database.exec("PRAGMA journal_mode = DELETE");
    await turn();
    await work({ ...stores, database, other, lease });
  });

  it("is written to in the order of the calls, and once each, when the lock is gone", async () => {
    const { ledger, database, other } = await setUp();
    other.exec("BEGIN EXCLUSIVE");
    const order: number[] = [];
    const calls = Array.from({ length: 200 }, async (_, index) => {
      const result = await ledger.reserve(request(`call-${index}`));
      order.push(index);
      return (result as { lease: Lease }).lease;
    });
    for (let tick = 0; tick < 10; tick++) await sleep(1);
    other.exec("COMMIT");
    const leases = await Promise.all(calls);
    expect(order).toEqual(leases.map((_, index) => index));
    await Promise.all(leases.map((lease) => ledger.settle(lease, { amountMicro: 2 })));
    expect(await audit(database, Date.now())).toMatchObject({ used: 400, held: 10 });
  });

  it.each(["ledger.settle", "keys.update", "plans.put"])("is given up by %s after five seconds", async (name) => {
    const stores = await setUp();
    stores.other.exec("BEGIN EXCLUSIVE");
    const startedAt = performance.now();
    const elapsed = vi.spyOn(performance, "now").mockReturnValue(startedAt);
    let isOver = false;
    const outcome = (writes[name] as (stores: Stores) => Promise<unknown>)(stores).then(
      () => "done",
      (error: unknown) => {
        isOver = true;
        return error;
      },
    );
    await turn();
    elapsed.mockReturnValue(startedAt + 4_999);
    for (let tick = 0; tick < 50; tick++) await sleep(1);
    expect(isOver).toBe(false);
    elapsed.mockReturnValue(startedAt + 5_000);
    const error = (await outcome) as Error;
    if (name.startsWith("ledger")) {
      expect(error).toMatchObject({ name: "LedgerUnavailableError", message: expect.stringContaining("locked") });
      expect(error.cause).toMatchObject({ code: "SQLITE_BUSY" });
    } else expect(error).toMatchObject({ code: "SQLITE_BUSY" });
    stores.other.exec("COMMIT");
    // Also through stores of their own on the same connection: nothing of what was given up is in their way.
    const apart = sqliteStores({ database: stores.database });
    expect((await apart.ledger.settle(stores.lease, { amountMicro: 1 })).status).toBe("settled");
    await apart.plans.put({ id: "q", models: [] });
    expect(await sqlitePlanStore({ database: stores.other }).find("q")).toMatchObject({ id: "q" });
  });

  it("is waited for by close()", async () => {
    const { ledger, lease, other } = await setUp();
    other.exec("BEGIN EXCLUSIVE");
    const settled = ledger.settle(lease, { amountMicro: 1 });
    let isClosed = false;
    const closed = ledger.close().then(() => {
      isClosed = true;
    });
    for (let tick = 0; tick < 10; tick++) await sleep(1);
    expect(isClosed).toBe(false);
    other.exec("COMMIT");
    expect((await settled).status).toBe("settled");
    await closed;
    await turn();
  });
});

describe("a gateway whose database another process has locked", () => {
  it("refuses calls within reserveTimeoutMs, answers all else, and loses no charge", async () => {
    const folder = newFolder();
    const database = folder.open();
    const { keys, plans, ledger } = sqliteStores({ database });
    const key = { ...newKey("key"), hash: hashKey("sk-stored"), plan: "all" };
    await keys.insert(key);
    await plans.put({ id: "all", models: ["acme/*"] });
    const { gateway, upstream, close } = await startTestGateway({ keys, plans, ledger, cacheTtlMs: 0 });
    upstream.reply(wholeAnswer());
    const call = async () => {
      const response = await gateway.handler(chatRequest({}, "sk-stored"));
      await response.text();
      return response.status;
    };
    const holder = await Child.start("lock-holder.ts", folder.file, 0, "EXCLUSIVE");
    expect(await holder.line()).toBe("locked");
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 5);
    // They end by a timer of ten ticks; one that is blocked fires late, and ticks no more than once for it.
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all([call(), call()])).toEqual([503, 503]);
      expect((await gateway.handler(getRequest("/v1/models", "sk-stored"))).status).toBe(200);
    }
    clearInterval(ticking);
    expect(ticks).toBeGreaterThanOrEqual(15);
    holder.say("let go");
    expect(await holder.end()).toBe(0);
    await vi.waitFor(async () => expect(await call()).toBe(200));
    await close();
    expect((await audit(database, Date.now())).held).toBe(0);
  });
});
