import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import type { LedgerOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger, WindowLimits } from "../../../src/ledger/credit-ledger.js";
import type { LedgerEvent } from "../../../src/ledger/guard/ledger-event.js";
import { shardedLedger } from "../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { chatAnswer, wholeAnswer } from "../../../src/testing.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const accounts = Array.from({ length: 12 }, (_, index) => `acct_${index}`);
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
/** In micro-credits. */
const callCost = 210;

/** A gateway of twelve accounts with a key each, of 100 credits a session. */
async function startOn(ledger: CreditLedger, ledgerOptions: LedgerOptions = {}) {
  const events: LedgerEvent[] = [];
  const test = await startTestGateway({
    ledger,
    ledgerOptions,
    keys: memoryKeyStore(accounts.map((account) => ({ key: `sk-${account}`, id: account, account, plan: "pro" }))),
    onLedgerEvent: (event) => events.push(event),
  });
  test.upstream.reply(wholeAnswer(chatAnswer({ usage })));
  return { test, events };
}

function unlimited(): WindowLimits {
  return windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: 18_000_000, now: Date.now() });
}

async function statusOf({ gateway }: TestGateway, account: string): Promise<number> {
  const response = await gateway.handler(chatRequest({}, `sk-${account}`));
  await response.text();
  return response.status;
}

async function usedOf({ gateway }: TestGateway, account: string): Promise<number | undefined> {
  const { windows } = await gateway.accounts.balance(account, { plan: "pro" });
  return windows.week.usedMicro;
}

describe.runIf(hasRedisServer)("a gateway on two Redis servers", () => {
  const ends: (() => unknown)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function start() {
    const servers = await Promise.all([
      RedisServer.start("--appendonly", "yes", "--appendfsync", "always"),
      RedisServer.start(),
    ]);
    ends.push(...servers.map((server) => () => server.stop()));
    const [one, two] = servers.map((server) => {
      const client = new Redis(server.port, "127.0.0.1");
      client.on("error", () => {});
      ends.push(() => client.disconnect());
      return redisCreditLedger({ client });
    });
    if (one === undefined || two === undefined) throw new Error("no servers");
    const shards = { one, two };
    const shardOf = (account: string) => (accounts.indexOf(account) % 2 === 0 ? "one" : "two");
    const { test, events } = await startOn(shardedLedger({ shards, shardOf }), { reserveTimeoutMs: 1_500 });
    ends.push(() => test.close());
    return { test, events, servers, shards };
  }

  it("serves the accounts of both, and manages them", async () => {
    const { test, shards } = await start();
    for (const account of accounts) expect(await statusOf(test, account)).toBe(200);
    for (const [index, account] of accounts.entries()) {
      const [own, other] = index % 2 === 0 ? [shards.one, shards.two] : [shards.two, shards.one];
      expect((await own.balance(account, unlimited())).windows.week.usedMicro).toBe(callCost);
      expect((await other.balance(account, unlimited())).windows.week.usedMicro).toBe(0);
    }
    for (const account of accounts) expect(await usedOf(test, account)).toBe(callCost);
    await test.gateway.accounts.topUp("acct_3", { id: "payment_1", credits: 5 });
    expect((await test.gateway.accounts.balance("acct_3", { plan: "pro" })).prepaid?.balanceMicro).toBe(5_000_000);
  });

  it("serves the accounts of one while the other is dead, and then all of them, with balanced books", async () => {
    const { test, events, servers } = await start();
    for (const account of accounts) await statusOf(test, account);
    await servers[0]?.kill();
    const ofOne = accounts.filter((_, index) => index % 2 === 0);
    const ofTwo = accounts.filter((_, index) => index % 2 === 1);
    for (let round = 0; round < 3; round++) {
      // At the same time: the calls that find the first server dead do not make the others wait, or fail.
      const statuses = await Promise.all(
        accounts.map(async (account) => [account, await statusOf(test, account)] as const),
      );
      expect(statuses.filter(([account]) => ofOne.includes(account)).map(([, status]) => status)).toEqual(
        ofOne.map(() => 503),
      );
      expect(statuses.filter(([account]) => ofTwo.includes(account)).map(([, status]) => status)).toEqual(
        ofTwo.map(() => 200),
      );
    }
    expect(new Set(events.map(({ shard }) => shard))).toEqual(new Set(["one"]));
    await servers[0]?.restart();
    await expect.poll(() => statusOf(test, "acct_0")).toBe(200);
    expect(events).toContainEqual(expect.objectContaining({ type: "available", shard: "one" }));
    for (const account of ofTwo) expect(await usedOf(test, account)).toBe(4 * callCost);
    expect(await usedOf(test, "acct_0")).toBe(2 * callCost);
    expect(await usedOf(test, "acct_2")).toBe(callCost);
  });
});

describe("a gateway on a sharded ledger", () => {
  it("calls shards in its memory without a guard", async () => {
    const remote = { ...memoryCreditLedger() };
    const shards = { near: memoryCreditLedger(), far: { ...remote, reserve: () => Promise.reject(new Error("away")) } };
    const { test, events } = await startOn(
      shardedLedger({ shards, shardOf: (account) => (account === "acct_0" ? "far" : "near") }),
    );
    try {
      expect(await statusOf(test, "acct_0")).toBe(503);
      expect(await statusOf(test, "acct_1")).toBe(200);
      expect(events.map(({ type, shard }) => [type, shard])).toEqual([["unavailable", "far"]]);
    } finally {
      await test.close();
    }
  });

  it("names the shards of shards in its events", async () => {
    const away = () => ({ ...memoryCreditLedger(), reserve: () => Promise.reject(new Error("away")) });
    const { test, events } = await startOn(
      shardedLedger({ shards: { eu: shardedLedger({ shards: { one: away() } }) } }),
    );
    try {
      expect(await statusOf(test, "acct_0")).toBe(503);
      expect(events.map(({ type, shard }) => [type, shard])).toEqual([["unavailable", "eu/one"]]);
    } finally {
      await test.close();
    }
  });

  it("calls the methods of a host's copy", async () => {
    const sharded = shardedLedger({ shards: { a: { ...memoryCreditLedger() }, b: { ...memoryCreditLedger() } } });
    const settled: string[] = [];
    const settle: CreditLedger["settle"] = (lease, settlement) => {
      settled.push(lease.account);
      return sharded.settle(lease, settlement);
    };
    const inheriting: CreditLedger = Object.create(sharded, { settle: { value: settle } });
    const proxy = new Proxy(sharded, {
      get: (ledger, name) => (name === "settle" ? settle : Reflect.get(ledger, name)),
    });
    for (const ledger of [{ ...sharded, settle }, inheriting, proxy]) {
      const { test } = await startOn(ledger);
      try {
        expect(await statusOf(test, "acct_1")).toBe(200);
      } finally {
        await test.close();
      }
    }
    expect(settled).toEqual(["acct_1", "acct_1", "acct_1"]);
  });
});
