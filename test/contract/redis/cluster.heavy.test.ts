import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type IoredisClient,
  isNodeRedis,
  type NodeRedisClient,
  type RedisClient,
} from "../../../src/stores/redis/redis-client.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { everywhere, Fixture, unique } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { RedisCluster } from "../../support/redis-cluster.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { redisOn } from "../stores/redis.js";
import { describeOnStore } from "../stores/store-under-test.js";
import type { Connected } from "./clients.js";

type Nodes = readonly { host: string; port: number }[];

async function connectIoredis(nodes: Nodes): Promise<Connected> {
  const client = new Cluster([...nodes], { lazyConnect: true });
  client.on("error", () => {});
  await client.connect();
  return { client, end: () => client.disconnect() };
}

async function connectNodeRedis(nodes: Nodes): Promise<Connected> {
  const client = createCluster({ rootNodes: nodes.map(({ host, port }) => ({ url: `redis://${host}:${port}` })) });
  client.on("error", () => {});
  await client.connect();
  return { client, end: () => client.destroy() };
}

describe.runIf(hasRedisServer).each([
  ["ioredis", connectIoredis],
  ["node-redis", connectNodeRedis],
])("a Redis cluster with %s", (name, connect) => {
  let cluster: RedisCluster;
  let connected: [Connected, Connected];

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    connected = [await connect(cluster.nodes), await connect(cluster.nodes)];
  });

  afterAll(async () => {
    for (const { end } of connected ?? []) end();
    await cluster?.stop();
  });

  const stores = (index: 0 | 1 = 0) => redisStores({ client: connected[index].client as RedisClient });
  const account = () => new Fixture(new ManualClock(Date.now()), stores().ledger, {});

  it("has each account in one slot, and accounts on all nodes", async () => {
    await cluster.onEach((node) => node.flushall());
    for (let index = 0; index < 60; index++) {
      const one = account();
      await one.spend(5);
      await one.admit(3);
      const { limits, id: accountId } = one;
      await one.ledger.grant({ id: unique("grant"), account: accountId, window: "week", amountMicro: 1, limits });
    }
    const perNode = await cluster.onEach((node) => node.keys("*"));
    for (const keys of perNode) expect(keys.length).toBeGreaterThan(0);
    const slots = new Map<string, Set<unknown>>();
    await cluster.onEach(async (node, index) => {
      for (const key of perNode[index] ?? []) {
        const tag = key.slice(0, key.indexOf("}"));
        slots.set(tag, (slots.get(tag) ?? new Set()).add(await node.cluster("KEYSLOT", key)));
      }
    });
    expect(slots.size).toBe(60);
    expect([...slots.values()].filter(({ size }) => size !== 1)).toEqual([]);
  });

  it("renews the leases of many accounts together", async () => {
    const { ledger } = stores();
    const accounts = Array.from({ length: 20 }, () => new Fixture(new ManualClock(Date.now()), ledger, {}));
    const leases = await Promise.all([...accounts, ...accounts].map((one) => one.admit(5)));
    const statuses = await ledger.renew(leases.map((lease) => ({ lease, observedMicro: 7, leaseMs: 60_000 })));
    expect(statuses).toEqual(leases.map(() => "renewed"));
    for (const one of accounts) expect(await one.counts()).toEqual(everywhere(0, 14));
  });

  it("goes on after every node has forgotten the scripts", async () => {
    const accounts = Array.from({ length: 30 }, account);
    const flush = () => cluster.onEach((node) => node.script("FLUSH"));
    await Promise.all([
      ...accounts.map((one) => one.spend(2)),
      flush(),
      ...accounts.map((one) => one.spend(3)),
      flush(),
    ]);
    for (const one of accounts) expect(await one.counts()).toEqual(everywhere(5, 0));
  });

  it("puts operations of one account only into a script", async () => {
    const { ledger } = stores();
    const accounts = Array.from({ length: 12 }, () => new Fixture(new ManualClock(Date.now()), ledger, {}));
    await Promise.all(accounts.map((one) => one.spend(1)));
    await cluster.onEach((node) => node.config("RESETSTAT"));
    await Promise.all([...accounts, ...accounts].map((one) => one.admit(5)));
    const calls = await cluster.onEach(async (node) =>
      Number(/cmdstat_evalsha:calls=(\d+),.*failed_calls=0/.exec(await node.info("commandstats"))?.[1] ?? 0),
    );
    expect(calls.reduce((sum, count) => sum + count, 0)).toBe(12);
    for (const one of accounts) expect(await one.counts()).toEqual(everywhere(1, 10));
  });

  it("goes over to that where the client does not show that it is one", async () => {
    const { client } = connected[0];
    const hidden = isNodeRedis(client)
      ? {
          evalSha: (...call: Parameters<NodeRedisClient["evalSha"]>) => client.evalSha(...call),
          eval: (...call: Parameters<NodeRedisClient["eval"]>) => client.eval(...call),
        }
      : {
          evalsha: (...call: Parameters<IoredisClient["evalsha"]>) => client.evalsha(...call),
          eval: (...call: Parameters<IoredisClient["eval"]>) => client.eval(...call),
        };
    const { ledger } = redisStores({ client: hidden });
    const accounts = Array.from({ length: 12 }, () => new Fixture(new ManualClock(Date.now()), ledger, {}));
    for (let round = 0; round < 2; round++) await Promise.all([...accounts, ...accounts].map((one) => one.spend(3)));
    for (const one of accounts) expect(await one.counts()).toEqual(everywhere(12, 0));
  });

  it("tells of changes made at any node", async () => {
    const heard: string[] = [];
    const ends = await Promise.all(
      [0, 1, 0, 1].map((index) => stores(index as 0 | 1).plans.subscribe?.((id) => heard.push(id))),
    );
    await stores().plans.put({ id: "p", models: [] });
    await vi.waitFor(() => expect(heard).toEqual(["p", "p", "p", "p"]));
    for (const end of ends) await end?.();
  });

  // The rules are told once, and both libraries are held against the oracle.
  const { ledgerOptions, ...store } = redisOn(`a Redis cluster with ${name}`, () => [
    connected[0].client,
    connected[1].client,
  ]);
  describeOnStore({ ...store, ...(name === "ioredis" && { ledgerOptions }), ledgerRuns: 5 });
});
