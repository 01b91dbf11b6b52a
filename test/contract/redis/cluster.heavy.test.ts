import { Cluster } from "ioredis";
import { createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { redisAuditTrail } from "../../../src/stores/redis/redis-audit-trail.js";
import {
  type IoredisClient,
  isNodeRedis,
  type NodeRedisClient,
  type RedisClient,
} from "../../../src/stores/redis/redis-client.js";
import { redisRequestLog } from "../../../src/stores/redis/redis-request-log.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";
import { everywhere, Fixture, unique } from "../../../src/testing/credit-ledger-fixture.js";
import { describeAuditTrail } from "../../../src/testing/describe-audit-trail.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeWritablePlanStore } from "../../../src/testing/describe-plan-store.js";
import { describeWritableAccountStore } from "../../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../../src/testing/describe-writable-key-store.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { describeModelStore } from "../../../src/testing/model-store/describe-model-store.js";
import { describeRequestLog } from "../../../src/testing/request-log/describe-request-log.js";
import { RedisCluster } from "../../support/redis-cluster.js";
import { hasRedisServer } from "../../support/redis-server.js";
import type { Connected } from "./clients.js";
import { ledgerAt } from "./redis-test.js";

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
    await vi.waitFor(() => expect(heard).toEqual(["p", "p", "p", "p"]), { timeout: 5_000 });
    for (const end of ends) await end?.();
  });

  describeCreditLedger(`redisCreditLedger in a cluster, ${name}`, (clock) => ledgerAt(clock, connected[0].client), {
    ids: "per account",
    limits: true,
    holds: 1_000,
  });
  describeWritableKeyStore(`redisKeyStore in a cluster, ${name}`, async () => [stores(0).keys, stores(1).keys]);
  describeWritableAccountStore(`redisAccountStore in a cluster, ${name}`, async () => [
    stores(0).accounts,
    stores(1).accounts,
  ]);
  describeWritableBudgetStore(`redisBudgetStore in a cluster, ${name}`, async () => [
    stores(0).budgets,
    stores(1).budgets,
  ]);
  describeModelStore(`redisModelStore in a cluster, ${name}`, async () => [stores(0).modelStore, stores(1).modelStore]);
  describeWritablePlanStore(`redisPlanStore in a cluster, ${name}`, async () => [stores(0).plans, stores(1).plans]);
  describeAuditTrail(`redisAuditTrail in a cluster, ${name}`, async (limits) => {
    const prefix = unique("audit");
    const [one, other] = connected.map(({ client }) => redisAuditTrail({ client, prefix, ...limits }));
    if (!one || !other) throw new Error("Two clients are needed.");
    return [one, other];
  });
  describeRequestLog(`redisRequestLog in a cluster, ${name}`, (limits) =>
    redisRequestLog({ client: connected[0].client, prefix: "test", timeoutMs: 20_000, ...limits }),
  );
});
