import { Redis } from "@upstash/redis";
import { Redis as CloudflareRedis } from "@upstash/redis/cloudflare";
import { Redis as FastlyRedis } from "@upstash/redis/fastly";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { fromUpstash } from "../../../src/stores/redis/redis-client.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { makeScript, scriptRunner } from "../../../src/stores/redis/script.js";
import { Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";
import { UpstashServer } from "../../support/upstash-server.js";

describe.runIf(hasRedisServer)("fromUpstash", () => {
  let redis: RedisServer;
  let upstash: UpstashServer;

  beforeAll(async () => {
    redis = await RedisServer.start();
    upstash = await UpstashServer.start(redis.port);
  });
  afterAll(async () => {
    await upstash?.stop();
    await redis?.stop();
  });

  const options = () => ({ url: upstash.url, token: upstash.token, automaticDeserialization: false });
  const clients = () => [
    new Redis(options()),
    new Redis({ ...options(), enableAutoPipelining: false }),
    new Redis({ ...options(), responseEncoding: false }),
    new CloudflareRedis({ ...options(), enableAutoPipelining: true }),
    new FastlyRedis({ ...options(), backend: "none" }),
  ];

  it("gives texts as they are, whatever they look like, and loads scripts that the server has not", async () => {
    const echo = makeScript("return { ARGV[1], KEYS[1], 7, false, { ARGV[2] } }");
    for (const client of clients()) {
      const { run, returnsBytes } = scriptRunner(fromUpstash(client));
      expect(returnsBytes).toBe(false);
      for (const text of ["1", "007", '{"a":1}', "null", "true", "ä€😀", "1e3", "OK", ""]) {
        await new Redis(options()).scriptFlush();
        expect(await run(echo, ["key"], [text, text])).toEqual([text, "key", 7, null, [text]]);
      }
    }
  });

  it("admits exactly what fits of 30 reservations at once", async () => {
    for (const client of clients()) {
      const { ledger } = redisStores({ client: fromUpstash(client) });
      const account = new Fixture(new ManualClock(Date.now()), ledger, { month: 100_000 });
      const results = await Promise.all(Array.from({ length: 30 }, () => account.reserve(9_000, { strict: true })));
      expect(results.filter(({ ok }) => ok)).toHaveLength(11);
      expect(await account.counts()).toMatchObject({ month: [0, 99_000] });
    }
  });

  it("serves a gateway, and warns of nothing that it cannot be told", async () => {
    const { accounts, ...stores } = redisStores({ client: fromUpstash(new Redis(options())), prefix: "gateway" });
    await stores.plans.put({ id: "pro", models: ["acme/*"], credits: { month: 100 } });
    const key = { id: "key_1", hash: hashKey("sk-up"), hint: "sk-…", account: "acct", plan: "pro", createdAt: 0 };
    await stores.keys.insert(key);
    const test = await startTestGateway({ ...stores, accounts });
    try {
      for (let call = 0; call < 5; call++) {
        const response = await test.gateway.handler(chatRequest({}, "sk-up"));
        expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
      }
      expect(test.warnings).toEqual([]);
    } finally {
      await test.close();
    }
  });

  it("tells failures without the command, its keys and its arguments", async () => {
    const secret = "sk-secret-of-somebody";
    const failing = makeScript("return redis.error_reply('WRONG thing')");
    const forbidden = (status: number, body: string) => {
      upstash.replace = (_request, response) => {
        response.writeHead(status);
        response.end(body);
        return true;
      };
    };
    const messageOf = async (client = new Redis({ ...options(), retry: false })) => {
      const failure = scriptRunner(fromUpstash(client)).run(failing, [secret], [secret]);
      const error = (await failure.catch((thrown) => thrown)) as Error;
      expect(error).toBeInstanceOf(Error);
      expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain(secret);
      return error.message;
    };
    try {
      expect(await messageOf()).toContain("WRONG thing");
      expect(await messageOf(new Redis({ ...options(), token: "wrong", retry: false }))).toBe("Unauthorized");
      forbidden(400, JSON.stringify({ error: "ERR max request size exceeded" }));
      expect(await messageOf()).toBe("ERR max request size exceeded");
      forbidden(
        200,
        JSON.stringify([{ error: `ERR unknown command 'evalsha', with args beginning with: '${secret}'` }]),
      );
      expect(await messageOf()).toBe("ERR unknown command 'evalsha'");
      forbidden(502, `<html>${secret}</html>`);
      expect(await messageOf()).toBe("Upstash returned something else than JSON.");
      forbidden(200, "[]");
      expect(await messageOf()).toBe("Upstash returned nothing for a command.");
      upstash.replace = (request) => {
        request.socket.destroy();
        return true;
      };
      expect(await messageOf()).toBe("fetch failed");
    } finally {
      upstash.replace = undefined;
    }
  });

  it("loads a script also where the error has other words around it", async () => {
    let calls = 0;
    const outcome = () => {
      calls += 1;
      if (calls === 1) throw new Error('Command failed: NOSCRIPT No matching script., command was: ["evalsha"]');
      return [{ result: "done" }];
    };
    const pipeline = { evalsha: () => {}, eval: () => {}, exec: async () => outcome() };
    const client = { pipeline: () => pipeline, createScript: () => {}, opts: { automaticDeserialization: false } };
    expect(await scriptRunner(fromUpstash(client)).run(makeScript("return 1"), ["k"], [])).toBe("done");
  });
});

describe("a client of another kind is refused", () => {
  const credentials = { url: "http://127.0.0.1:1", token: "t" };

  it("where it changes types, with what to write", () => {
    for (const given of [credentials, { ...credentials, automaticDeserialization: true }]) {
      expect(() => fromUpstash(new Redis(given))).toThrow(/automaticDeserialization: false/);
    }
    const requester = { request: async () => ({}) as never };
    expect(() => fromUpstash(new Redis(requester))).toThrow(/automaticDeserialization: false/);
    expect(() => fromUpstash({} as never)).toThrow(/takes a client of @upstash\/redis/);
    expect(() => fromUpstash(undefined as never)).toThrow(/takes a client of @upstash\/redis/);
    expect(() => fromUpstash(createClient() as never)).toThrow(/takes a client of @upstash\/redis/);
  });

  it("where it is Upstash's own", () => {
    for (const client of [new Redis(credentials), new Redis({ ...credentials, enableAutoPipelining: false })]) {
      expect(() => redisStores({ client } as never)).toThrow(/client: fromUpstash\(redis\)/);
    }
  });

  it("where it is something else", () => {
    const others = [undefined, null, "redis://localhost", {}, { evalsha() {} }, { evalSha() {} }, { send() {} }];
    for (const client of others) {
      expect(() => redisStores({ client } as never)).toThrow(/client must be a client of ioredis or node-redis/);
    }
    const old = { evalsha() {}, eval() {}, internal_send_command() {} };
    expect(() => redisStores({ client: old } as never)).toThrow(/version 5 or later/);
  });
});
