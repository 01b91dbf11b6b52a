import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Clock } from "../../../src/ledger/calendar.js";
import type { ResponseStore } from "../../../src/responses/response-store.js";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import {
  makeResponseScripts,
  redisResponseStore,
  responseStoreOn,
} from "../../../src/stores/redis/redis-response-store.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { item } from "../../../src/testing/response-store/response-fixture.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { responseOf } from "../contracts/response-store-bounds.js";
import { type Connected, clients } from "./clients.js";
import { RedisTest } from "./redis-test.js";
import { runAt } from "./store-clock.js";

const day = 86_400_000;
/** With the time that comes with each call. */
const shiftedScripts = makeResponseScripts("local now = tonumber(ARGV[#ARGV])");

describe.runIf(hasRedisServer)("in Redis", () => {
  let redis: RedisTest;
  let connected: Connected[];

  beforeAll(async () => {
    redis = await RedisTest.start();
    connected = await Promise.all(clients.map(([, connect]) => connect(redis.server.port)));
  });
  afterAll(async () => {
    for (const { end } of connected ?? []) end();
    await redis?.stop();
  });

  const clientOf = (index: number) => connected[index]?.client ?? redis.client;
  function storeAt(clock: Clock, index: number, prefix = "test", ttlMs = 30 * day): ResponseStore {
    const { run } = connectionOf({ client: clientOf(index), timeoutMs: 20_000 });
    return responseStoreOn({ run: runAt(run, clock), prefix }, { ttlMs }, shiftedScripts);
  }

  it("takes the time from the server, and lets all keys of an account go with its newest response", async () => {
    const prefix = "expiring";
    const store = redisResponseStore({ client: clientOf(0), prefix, ttlMs: 60_000 });
    const kept = { ...responseOf("a", "1"), input: [item("x")] };
    await store.put(kept);
    expect(await store.find("a", "1")).toEqual(kept);
    const names = await redis.client.keys(`${prefix}:*`);
    expect(names).toHaveLength(4);
    for (const name of names) {
      const ttl = await redis.client.pttl(name);
      expect(ttl).toBeGreaterThan(50_000);
      expect(ttl).toBeLessThanOrEqual(60_000);
    }
    expect(names.join()).toMatch(/^expiring:\{[\w-]{22}\}:responses/);
  });

  it("leaves nothing of what is deleted, forgotten or has expired", async () => {
    const prefix = "leaving";
    const clock = new ManualClock(day);
    const store = storeAt(clock, 0, prefix, day);
    const left = () => redis.client.keys(`${prefix}:*`);
    const putOne = (id: string) => store.put({ ...responseOf("a", id), input: [item("x")], output: [item("y")] });
    await putOne("1");
    await putOne("2");
    for (const id of ["1", "2"]) await store.delete("a", id);
    expect(await left()).toEqual([]);
    await putOne("1");
    await store.forget("a");
    expect(await left()).toEqual([]);

    for (let n = 0; n < 40; n++) await putOne(`${n}`);
    clock.advance(day);
    for (let n = 0; n < 3; n++) await store.put(responseOf("a", `new-${n}`));
    const sizes = await Promise.all(
      (await left()).map(async (name) => {
        const type = await redis.client.type(name);
        return type === "hash" ? await redis.client.hlen(name) : await redis.client.zcard(name);
      }),
    );
    // Of each its head, its place in the order, and its text and moment, which are beside the sum: no item is left.
    expect(sizes.toSorted()).toEqual([3, 3, 7]);
  });

  it("takes what a server has evicted for gone", async () => {
    const prefix = "evicted";
    const store = redisResponseStore({ client: clientOf(0), prefix, allowEviction: true });
    const kept = { ...responseOf("a", "1"), input: [item("x")] };
    for (const part of ["", ":order", ":texts", ":items"]) {
      await store.put(kept);
      const [name] = (await redis.client.keys(`${prefix}:*:responses${part}`)) as [string];
      await redis.client.del(name);
      if (part !== ":items") expect(await store.find("a", "1")).toBeUndefined();
      if (part !== ":items") expect(await store.findChain("a", "1", 1)).toBeUndefined();
      await store.findItems("a", ["x"]);
      await store.delete("a", "1");
      await store.put(kept);
      expect(await store.find("a", "1")).toEqual(kept);
      expect(await store.findItems("a", ["x"])).toEqual(new Map([["x", item("x").json]]));
    }
  });
});
