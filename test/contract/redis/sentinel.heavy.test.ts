import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { createSentinel } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lease } from "../../../src/ledger/credit-ledger.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { everywhere, Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { RedisSentinel } from "../../support/redis-sentinel.js";
import { hasRedisServer } from "../../support/redis-server.js";
import type { Connect } from "./clients.js";

const connects: [string, Connect][] = [
  [
    "ioredis",
    async (port) => {
      const client = new Redis({ sentinels: [{ host: "127.0.0.1", port }], name: "main", lazyConnect: true });
      client.on("error", () => {});
      await client.connect();
      return { client, end: () => client.disconnect() };
    },
  ],
  [
    "node-redis",
    async (port) => {
      const client = createSentinel({ name: "main", sentinelRootNodes: [{ host: "127.0.0.1", port }] });
      client.on("error", () => {});
      await client.connect();
      return { client, end: () => client.destroy() };
    },
  ],
];

describe.runIf(hasRedisServer)("the Redis ledger behind Sentinel", () => {
  let sentinel: RedisSentinel;
  beforeAll(async () => {
    sentinel = await RedisSentinel.start();
  });
  afterAll(() => sentinel?.stop());

  it("follows the master, with both clients at once, and loses no charge that is repeated", {
    timeout: 60_000,
  }, async () => {
    const connected = await Promise.all(connects.map(([, connect]) => connect(sentinel.port)));
    try {
      const accounts = connected.map(
        ({ client }) => new Fixture(new ManualClock(Date.now()), redisStores({ client, timeoutMs: 2_000 }).ledger, {}),
      );
      const settled: [Fixture, Lease, number, since: number][] = [];
      async function spend(account: Fixture, amount: number): Promise<void> {
        const request = account.request(100);
        const result = await insist(() => account.ledger.reserve(request));
        if (!result.ok) throw new Error("Nothing is limited here.");
        const since = Date.now();
        settled.push([account, result.lease, amount, since]);
        await insist(() => account.ledger.settle(result.lease, { amountMicro: amount, mayBeDuplicateSince: since }));
      }

      for (const account of accounts) for (let amount = 1; amount <= 10; amount++) await spend(account, amount);
      // The sessions are known there; what is lost with its session is not taken up again in a newer one.
      await sentinel.isInSync();
      // Some of these are lost with the old master, or while there is none.
      let isOver = false;
      const load = accounts.map(async (account) => {
        for (let amount = 11; !isOver; amount++) {
          await spend(account, amount);
          await sleep(10);
        }
      });
      await sentinel.failOver();
      isOver = true;
      await Promise.all(load);
      for (const account of accounts) await spend(account, 7);

      for (const [account, lease, amount, since] of settled) {
        await insist(() => account.ledger.settle(lease, { amountMicro: amount, mayBeDuplicateSince: since }));
      }
      for (const account of accounts) {
        const exact = settled.reduce((sum, [of, , amount]) => sum + (of === account ? amount : 0), 0);
        expect(await account.counts()).toEqual(everywhere(exact, 0));
      }
    } finally {
      for (const { end } of connected) end();
    }
  });
});

async function insist<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await sleep(20);
    }
  }
}
