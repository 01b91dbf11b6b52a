import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ResponseCacheStore } from "../../../src/cache/response-cache-store.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { redisResponseCache } from "../../../src/stores/redis/redis-response-cache.js";
import { chatAnswer, createGate } from "../../../src/testing.js";
import { startCache } from "../../support/cache/start-cache.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { smallModel } from "../../support/test-gateway.js";
import { RedisTest } from "../redis/redis-test.js";

/** A store in this process, of which methods can be replaced. */
function storeWith(methods: Partial<ResponseCacheStore> = {}) {
  const values = new Map<string, Uint8Array>();
  const calls: string[] = [];
  const store: ResponseCacheStore = {
    get(account, key) {
      calls.push("get");
      return Promise.resolve(values.get(`${account} ${key}`));
    },
    async put(account, key, value) {
      calls.push("put");
      values.set(`${account} ${key}`, value);
    },
    forget(account) {
      for (const key of values.keys()) if (key.startsWith(`${account} `)) values.delete(key);
    },
    ...methods,
  };
  return { store, values, calls };
}

describe("a store of the host's", () => {
  it("has what another process has kept, for the same model at the same address", async () => {
    const { store } = storeWith();
    const one = await startCache({}, { store });
    const at = (options: object) => startCache({ providers: { fake: one.provider }, ...options }, { store });
    await one.post();
    await one.post({ stream: true });
    const two = await at({});
    const [whole, streamed] = [await two.post(), await two.post({ stream: true })];
    expect([whole.cached, streamed.cached]).toEqual(["hit", "hit"]);
    expect(JSON.parse(whole.text).choices).toHaveLength(1);
    expect(two.events.map(({ usageSource }) => usageSource)).toEqual(["cache", "cache"]);
    const other = { models: [{ ...smallModel, upstream: { provider: "fake", model: "another" } }] };
    expect((await (await at(other)).post()).cached).toBe("miss");
    expect((await (await startCache({}, { store })).post()).cached).toBe("miss");
    expect((await two.post({}, { authorization: "Bearer sk-basic" })).cached).toBe("miss");
  });

  it("that fails is asked once a second, and no call fails or is lost by it", async () => {
    let asked = 0;
    const fail = (): never => {
      asked++;
      throw new Error("The store is away.");
    };
    const { store } = storeWith({ get: fail, put: async () => fail() });
    const { post, warnings, clock, upstream, events } = await startCache({}, { store });
    for (let n = 0; n < 5; n++) {
      const { status, cached } = await post();
      expect([status, cached]).toEqual([200, "miss"]);
    }
    expect(asked).toBe(1);
    expect(warnings).toMatchObject([{ code: "response_cache_failed", cause: new Error("The store is away.") }]);
    expect(JSON.stringify(warnings)).not.toContain("Hi");
    clock.advance(1_000);
    await post();
    expect([asked, warnings.length, upstream.requests.length]).toEqual([2, 2, 6]);
    expect(events.every(({ chargedMicro }) => chargedMicro === 39)).toBe(true);
  });

  it("that never answers holds a call up for a moment alone, and its puts for no call at all", async () => {
    const { store, calls } = storeWith({ get: () => new Promise(() => {}), put: () => new Promise(() => {}) });
    const { post, warnings, gateway } = await startCache({ storeTimeoutMs: 50 }, { store });
    expect((await post()).status).toBe(200);
    expect((await post()).status).toBe(200);
    expect(warnings.map(({ message }) => message)).toEqual([
      "The store of the response cache failed to find a response. Calls go on without it.",
    ]);
    await gateway.close();
    expect(calls).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["a text", "text"],
    ["other bytes", Buffer.from("not a response at all, and rather long")],
    ["nothing", null],
  ])("that finds %s has a miss", async (_name, found) => {
    const { store } = storeWith({ get: async () => found as Uint8Array });
    const { post, upstream } = await startCache({}, { store });
    for (const _ of [1, 2]) expect((await post()).cached).toBe("miss");
    expect(upstream.requests).toHaveLength(2);
  });

  it.each([false, true])(
    "sends nothing for a client that leaves while it is asked, and charges nothing (kept: %s)",
    async (isKept) => {
      const controller = new AbortController();
      let leaves = false;
      const { store } = storeWith();
      const leaving: ResponseCacheStore = {
        ...store,
        async get(...place) {
          if (leaves) controller.abort();
          return await store.get(...place);
        },
      };
      let sent = 0;
      const own: UpstreamProvider = {
        async call() {
          sent++;
          const body = [Buffer.from(JSON.stringify(chatAnswer()))];
          return { status: 200, headers: { "content-type": "application/json" }, body: body as never };
        },
      };
      const { post, gateway, nextEvent } = await startCache({ providers: { fake: own } }, { store: leaving, share: 1 });
      if (isKept) await post();
      leaves = true;
      const ended = nextEvent();
      const request = new Request("http://gateway.test/v1/chat/completions", {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] }),
        signal: controller.signal,
      });
      await gateway.handler(request).catch(() => {});
      expect(await ended).toMatchObject({ chargedMicro: 0, endReason: "client_gone" });
      expect(sent).toBe(isKept ? 1 : 0);
      const { windows } = await gateway.accounts.balance("acct_pro");
      expect(windows.session.heldMicro).toBe(0);
    },
  );

  it("keeps nothing of an account that is forgotten, in whatever order, and says where that failed", async () => {
    const { store, values } = storeWith();
    const gate = createGate();
    const order: string[] = [];
    const slow: ResponseCacheStore = {
      ...store,
      async put(...put) {
        await gate.pass();
        order.push("put");
        await store.put(...put);
      },
      forget(account) {
        order.push("forget");
        return store.forget(account);
      },
    };
    const { post, gateway } = await startCache({}, { store: slow });
    await post({}, { authorization: "Bearer sk-basic" });
    const forgetting = gateway.accounts.forget("acct_basic");
    await setImmediate();
    gate.open();
    await forgetting;
    expect([order, values.size]).toEqual([["put", "forget"], 0]);
    const failing = await startCache({}, { store: { ...store, forget: () => Promise.reject(new Error("Away.")) } });
    await expect(failing.gateway.accounts.forget("acct_basic")).rejects.toMatchObject({ status: 503 });
  });

  it("must be one", async () => {
    await expect(startCache({}, { store: { get: () => undefined } as never })).rejects.toThrow(
      "store: must be a store of the response cache, such as redisResponseCache({ client })",
    );
  });
});

describe.runIf(hasRedisServer)("Redis", () => {
  it("has the responses of all processes until their account is forgotten", async () => {
    const redis = await RedisTest.start();
    try {
      const puts: unknown[] = [];
      const store = (): ResponseCacheStore => {
        const own = redisResponseCache({ client: redis.client, timeoutMs: 20_000 });
        return {
          ...own,
          put(...put) {
            const putting = own.put(...put);
            puts.push(putting);
            return putting;
          },
        };
      };
      const one = await startCache({}, { store: store() });
      const two = await startCache({ providers: { fake: one.provider } }, { store: store() });
      const body = { stream: true, messages: [{ role: "user", content: "größer \u{1f600}" }] };
      const first = await one.post(body, { authorization: "Bearer sk-basic" });
      await Promise.all(puts);
      const again = await two.post(body, { authorization: "Bearer sk-basic" });
      const bare = (text: string) => text.replace(/"id":"[^"]*"/g, "").replace(/"created":\d+/g, "");
      expect([again.cached, bare(again.text)]).toEqual(["hit", bare(first.text)]);
      await one.gateway.accounts.forget("acct_basic");
      expect(await redis.client.keys("infergate:*:cache*")).toEqual([]);
      await redis.client.quit();
      expect((await two.post(body)).status).toBe(200);
      expect(two.warnings.map(({ code }) => code)).toContain("response_cache_failed");
    } finally {
      await redis.stop();
    }
  });
});
