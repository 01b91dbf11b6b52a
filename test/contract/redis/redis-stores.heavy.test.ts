import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { redis } from "../stores/redis.js";
import { describeOnStore } from "../stores/store-under-test.js";
import { type Connected, clients, connectIoredis } from "./clients.js";

for (const [library] of clients) describeOnStore(redis(library));

describe.runIf(hasRedisServer)("what is particular in Redis", () => {
  let server: RedisServer;
  let connected: [Connected, Connected];
  let serial = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
    connected = [await connectIoredis(server.port), await connectIoredis(server.port)];
  });

  afterAll(async () => {
    for (const { end } of connected ?? []) end();
    await server?.stop();
  });

  const options = () => ({ client: connected[0].client, prefix: `test-${++serial}` });

  it("refuses a plan that is not valid, so that a misspelled limit lifts none", async () => {
    const { plans } = redisStores(options());
    await expect(plans.put({ id: "p", models: ["*"], credits: { weak: 5 } } as never)).rejects.toThrow(/weak/);
    await expect(plans.put({ id: "p", models: ["*"], sesionMs: 5 } as never)).rejects.toThrow(/sesionMs/);
    await expect(plans.put({ models: ["*"] } as never)).rejects.toThrow(TypeError);
    expect(await plans.find("p")).toBeUndefined();
  });

  it("makes no key by the update of one that is forgotten at that moment", async () => {
    const admin = new Redis(server.port, "127.0.0.1");
    try {
      const prefix = "forgotten";
      const { keys } = redisStores({ client: connected[0].client, prefix });
      const hash = hashKey("sk-1");
      await keys.insert({ id: "key_1", hash, hint: "sk-…", account: "a", plan: "p", createdAt: 1 });
      // By hand, as one that goes between the reading and the writing of an update.
      await admin.hdel(`${prefix}:{key}:key`, "key_1");
      expect(await keys.update("key_1", { name: "late" })).toBeUndefined();
      expect(await keys.find(hash)).toBeUndefined();
    } finally {
      admin.disconnect();
    }
  });

  it("reads of 100,000 budgets what it needs, and leaves none behind", async () => {
    const admin = new Redis(server.port, "127.0.0.1");
    try {
      const { client, prefix } = options();
      const { budgets } = redisStores({ client, prefix });
      await budgets.put("big", { tag: "member", credits: { month: 50 } });
      const [hash = "", order = ""] = (await admin.keys(`${prefix}:*`)).sort();
      for (let from = 0; from < 100_000; from += 10_000) {
        const names = Array.from({ length: 10_000 }, (_, index) => `member=${from + index}`);
        const entries = names.map((name) => [`big\n${name}`, JSON.stringify({ tag: "member", value: name.slice(7) })]);
        await admin.hset(hash, Object.fromEntries(entries));
        await admin.zadd(order, ...names.flatMap((name) => [0, `\nbig\n${name}`]));
      }
      const outputOf = async () => Number(/total_net_output_bytes:(\d+)/.exec(await admin.info("stats"))?.[1]);
      const before = await outputOf();
      expect(await budgets.find("big", { member: "77777", team: "red" })).toEqual([{ tag: "member", value: "77777" }]);
      expect(await budgets.find("big", { member: "none" })).toEqual([{ tag: "member", credits: { month: 50 } }]);
      const page = await budgets.list("big", { limit: 2 });
      expect(page).toEqual({
        budgets: [
          { tag: "member", credits: { month: 50 } },
          { tag: "member", value: "0" },
        ],
        cursor: "member=0",
      });
      expect((await budgets.list("big", { cursor: "member=99998" })).budgets).toEqual([
        { tag: "member", value: "99999" },
      ]);
      expect((await outputOf()) - before).toBeLessThan(20_000);
      await budgets.remove("big", { tag: "member", value: "0" });
      expect(await budgets.list("big", { cursor: "member=", limit: 1 })).toEqual({
        budgets: [{ tag: "member", value: "1" }],
        cursor: "member=1",
      });
      await budgets.forget("big");
      expect(await admin.keys(`${prefix}:*`)).toEqual([]);
    } finally {
      admin.disconnect();
    }
  });

  it("lists and forgets more keys than one script reads", async () => {
    const { keys } = redisStores(options());
    const account = "many";
    const ids = Array.from({ length: 250 }, (_, index) => `key-${index}`);
    const insert = (id: string, createdAt: number) =>
      keys.insert({ id, hash: hashKey(id), hint: "sk-…", account, plan: "pro", createdAt });
    await Promise.all(ids.map(insert));
    expect((await keys.list(account)).map(({ id }) => id)).toEqual(ids);
    expect(await keys.forget(account)).toHaveLength(250);
    expect(await keys.list(account)).toEqual([]);
    const admin = new Redis(server.port, "127.0.0.1");
    try {
      expect(await admin.keys(`test-${serial}:*`)).toEqual([]);
    } finally {
      admin.disconnect();
    }
  });
});
