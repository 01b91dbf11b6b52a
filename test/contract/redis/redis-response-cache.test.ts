import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResponseCacheStore } from "../../../src/cache/response-cache-store.js";
import type { Clock } from "../../../src/ledger/calendar.js";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import {
  makeCacheScripts,
  redisResponseCache,
  responseCacheOn,
} from "../../../src/stores/redis/redis-response-cache.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { RedisTest } from "./redis-test.js";
import { runAt } from "./store-clock.js";

/** With the time that comes with each call. */
const shiftedScripts = makeCacheScripts("local now = tonumber(ARGV[#ARGV])");
const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString();

describe.runIf(hasRedisServer)("in Redis", () => {
  let redis: RedisTest;

  beforeAll(async () => {
    redis = await RedisTest.start();
  });
  afterAll(async () => {
    await redis?.stop();
  });

  function storeAt(clock: Clock, prefix: string, maxAccountBytes = 10_000): ResponseCacheStore {
    const { run } = connectionOf({ client: redis.client, timeoutMs: 20_000 });
    return responseCacheOn({ run: runAt(run, clock), prefix }, maxAccountBytes, shiftedScripts);
  }

  it("lets a value go after its time, and the keys of an account with the last of them", async () => {
    const store = redisResponseCache({ client: redis.client, prefix: "ending" });
    await store.put("a", "long", Buffer.from("1"), 60_000);
    await store.put("a", "short", Buffer.from("2"), 1_000);
    const names = await redis.client.keys("ending:*");
    expect(names.toSorted().join(" ")).toMatch(/^ending:\{[\w-]{22}\}:cache ending:\{[\w-]{22}\}:cache:expiry$/);
    for (const name of names) expect(await redis.client.pttl(name)).toBeGreaterThan(50_000);

    const clock = new ManualClock(1_000_000);
    const shifted = storeAt(clock, "shifted");
    await shifted.put("a", "key", Buffer.from("value"), 1_000);
    clock.advance(999);
    expect(text(await shifted.get("a", "key"))).toBe("value");
    clock.advance(1);
    expect(await shifted.get("a", "key")).toBeUndefined();
    await shifted.put("a", "key", Buffer.from("again"), 1_000);
    clock.advance(999);
    expect(text(await shifted.get("a", "key"))).toBe("again");
  });

  it("bounds what an account has, with what values take beside their bytes", async () => {
    const clock = new ManualClock(1_000_000);
    const prefix = "bounded";
    const store = storeAt(clock, prefix);
    const value = Buffer.alloc(2_000);
    for (let number = 0; number < 40; number++) await store.put("a", `k${number}`, value, 5_000 + number);
    const found = await Promise.all(Array.from({ length: 40 }, (_, number) => store.get("a", `k${number}`)));
    expect(found.map((each) => each !== undefined)).toEqual([...Array(36).fill(false), ...Array(4).fill(true)]);
    const [name = ""] = (await redis.client.keys(`${prefix}:*cache`)) as [string];
    expect(Number(await redis.client.hget(name, ":bytes"))).toBe(4 * 2_256);
    await store.put("a", "k39", Buffer.alloc(9_900), 5_000);
    expect(await store.get("a", "k39")).toBeUndefined();
    expect(await store.get("a", "k38")).toBeDefined();
    expect(Number(await redis.client.hget(name, ":bytes"))).toBe(3 * 2_256);
    // What has expired makes room by itself.
    clock.advance(6_000);
    for (let number = 0; number < 200; number++) await store.put("b", `k${number}`, Buffer.alloc(1), 1_000);
    await store.put("a", "new", value, 5_000);
    expect(await redis.client.hkeys(name)).toEqual(expect.arrayContaining([":bytes", "new"]));
    expect(await redis.client.hlen(name)).toBe(2);
  });

  it("goes on where the server has dropped a key of two", async () => {
    const prefix = "evicted";
    const store = redisResponseCache({ client: redis.client, prefix });
    for (const part of ["", ":expiry"]) {
      await store.put("a", "old", Buffer.from("1"), 60_000);
      const [name = ""] = (await redis.client.keys(`${prefix}:*:cache${part}`)) as [string];
      await redis.client.del(name);
      expect(await store.get("a", "old")).toBeUndefined();
      await store.put("a", "new", Buffer.from("2"), 60_000);
      expect(text(await store.get("a", "new"))).toBe("2");
      const [values = ""] = (await redis.client.keys(`${prefix}:*:cache`)) as [string];
      expect((await redis.client.hkeys(values)).toSorted()).toEqual([":bytes", "new"]);
    }
    await store.forget("a");
    expect(await redis.client.keys(`${prefix}:*`)).toEqual([]);
  });

  it("is for a server that evicts keys, too", async () => {
    await redis.client.config("SET", "maxmemory-policy", "allkeys-lru");
    try {
      const store = redisResponseCache({ client: redis.client, prefix: "lru" });
      await store.put("a", "key", Buffer.from("1"), 60_000);
      expect(text(await store.get("a", "key"))).toBe("1");
    } finally {
      await redis.client.config("SET", "maxmemory-policy", "noeviction");
    }
  });
});

it("checks its options", () => {
  const client = { evalsha: async () => null, eval: async () => null };
  expect(() => redisResponseCache({ client, maxAccountBytes: 0 })).toThrow("maxAccountBytes must be a whole number");
  expect(() => redisResponseCache({ client, prefix: "{}" })).toThrow("prefix must be a string");
});
