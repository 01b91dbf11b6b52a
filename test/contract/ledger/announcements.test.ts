import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Announcements } from "../../../src/ledger/announcements.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import type { RedisClient } from "../../../src/stores/redis/redis-client.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { connectIoredis, connectNodeRedis } from "../redis/clients.js";

const waiting = { timeout: 10_000, interval: 10 };

/** Holds answers back until it is opened. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

it("an announcement that hangs keeps neither the next one nor the end waiting for ever", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const told: string[][] = [];
  const announcements = new Announcements((accounts) => {
    told.push([...accounts]);
    return told.length === 1 ? new Promise(() => {}) : Promise.resolve();
  });
  announcements.add("first");
  announcements.add("second");
  const idle = vi.fn();
  void announcements.idle().then(idle);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told).toEqual([["first"], ["second"]]);
  expect(idle).toHaveBeenCalledOnce();
});

/** @param held - opens the way for the notices to other processes. */
async function expectNobodyToWait(ledger: CreditLedger, held: { open(): void }): Promise<void> {
  const credits = { session: 10, week: 10, month: 10 };
  const limits = windowLimits({ credits, sessionMs: 3_600_000, now: Date.now() });
  const heard: string[] = [];
  const end = await ledger.subscribe?.((account) => heard.push(account));
  const window = "month" as const;
  for (const account of ["granted", "granted too"]) {
    const { month } = await ledger.grant({ id: account, account, window, amountMicro: 7, limits });
    expect(month.bonusMicro).toBe(7);
  }
  await ledger.reset("reset", ["month"]);
  await ledger.forget("forgotten");
  expect(heard).toEqual([]);
  const closed = vi.fn();
  const closing = ledger.close().then(closed);
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).not.toHaveBeenCalled();
  held.open();
  await closing;
  const all = ["granted", "granted too", "reset", "forgotten"];
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(all.toSorted()), waiting);
  await end?.();
}

describe("announcements", () => {
  it("go one after another, and together what came meanwhile, each account once", async () => {
    const gates = [gate(), gate()];
    const told: (readonly string[])[] = [];
    const announcements = new Announcements((accounts) => {
      told.push(accounts);
      return gates[told.length - 1]?.opened ?? Promise.resolve();
    });
    for (const account of ["a", "b", "c", "b"]) announcements.add(account);
    expect(told).toEqual([["a"]]);
    gates[0]?.open();
    await vi.waitFor(() => expect(told).toEqual([["a"], ["b", "c"]]), waiting);
    gates[1]?.open();
    await announcements.idle();
    announcements.add("a");
    expect(told).toHaveLength(3);
  });

  it("that fail, at once or later, keep nothing from the next", async () => {
    let failures = 0;
    const announcements = new Announcements((accounts) => {
      failures++;
      if (accounts[0] === "thrown") throw new Error("thrown");
      return Promise.reject(new Error("rejected"));
    });
    for (const account of ["thrown", "rejected"]) {
      announcements.add(account);
      await announcements.idle();
    }
    expect(failures).toBe(2);
  });
});

describeWithPostgres("PostgreSQL, announcements that hang", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  it("keep nobody waiting for what is done, but for close()", async () => {
    const held = gate();
    const hanging: PostgresPool = {
      connect: () => pool.connect(),
      async query(text, values) {
        if (text.includes("pg_notify") && String(values?.[0]).endsWith("_account")) await held.opened;
        return pool.query(text, values);
      },
    };
    await expectNobodyToWait(postgresCreditLedger({ pool: hanging }), held);
  });
});

describe.runIf(hasRedisServer)("Redis, announcements that hang", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it.each([
    ["ioredis", connectIoredis, "evalsha"],
    ["node-redis", connectNodeRedis, "evalSha"],
  ])("keep nobody waiting for what is done, but for close(), with %s", async (prefix, connect, method) => {
    const { client, end } = await connect(server.port);
    const held = gate();
    const send = Reflect.get(client, method) as (...args: unknown[]) => Promise<unknown>;
    const hanging = async (...args: unknown[]) => {
      if (JSON.stringify(args).includes(`${prefix}:changes`)) await held.opened;
      return send.apply(client, args);
    };
    Object.assign(client, { [method]: hanging });
    await expectNobodyToWait(redisCreditLedger({ client: client as RedisClient, prefix, timeoutMs: 600_000 }), held);
    end();
  });
});
