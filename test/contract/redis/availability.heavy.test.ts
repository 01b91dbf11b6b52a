import { Redis } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import { LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";
import type { RedisClient } from "../../../src/stores/redis/redis-client.js";
import { type RedisOptions, refuseEviction } from "../../../src/stores/redis/redis-connection.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { makeScript, type RunScript, scriptRunner } from "../../../src/stores/redis/script.js";
import { connectionMark } from "../../../src/stores/redis/when-reconnected.js";
import { everywhere, Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { clients } from "./clients.js";

describe.runIf(hasRedisServer).each(clients)("the Redis ledger with %s", (_, connect) => {
  const ends: (() => unknown)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function start(...args: string[]): Promise<RedisServer> {
    const server = await RedisServer.start(...args);
    ends.push(() => server.stop());
    return server;
  }

  async function account(port: number, options: Omit<RedisOptions, "client"> = {}): Promise<Fixture> {
    const { client, end } = await connect(port);
    ends.push(end);
    return new Fixture(new ManualClock(Date.now()), redisCreditLedger({ client, ...options }), {});
  }

  async function admin(server: RedisServer): Promise<Redis> {
    const client = new Redis(server.port, "127.0.0.1");
    client.on("error", () => {});
    ends.push(() => client.disconnect());
    return client;
  }

  it("goes on after the server has forgotten its scripts, in the middle of a run", async () => {
    const server = await start();
    const one = await account(server.port);
    const flushing = await admin(server);
    await Promise.all([
      ...Array.from({ length: 300 }, () => one.spend(2)),
      ...Array.from({ length: 20 }, () => flushing.script("FLUSH")),
    ]);
    expect(await one.counts()).toEqual(everywhere(600, 0));
  });

  it("sends its scripts once, then only their digests, and takes one round trip", async () => {
    const server = await start();
    const one = await account(server.port);
    await one.spend(1);
    const control = await admin(server);
    await control.config("RESETSTAT");
    for (let index = 0; index < 50; index++) await one.spend(1);
    const stats = await control.info("commandstats");
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe("100");
    expect(stats).not.toContain("cmdstat_eval:");
    expect(stats).not.toContain("cmdstat_info:");
    // The account knows the end of its journal.
    expect(stats).not.toContain("cmdstat_xrevrange:");
  });

  it("is unavailable, with a cause, while there is no server, and itself again afterwards", async () => {
    const server = await start("--appendonly", "yes", "--appendfsync", "always");
    const one = await account(server.port, { timeoutMs: 500 });
    const lease = await one.admit(30);
    await server.kill();
    const attempts = [
      () => one.reserve(1),
      () => one.ledger.renew([{ lease, observedMicro: 1, leaseMs: 60_000 }]),
      () => one.ledger.settle(lease, { amountMicro: 20 }),
      () => one.ledger.release(lease),
      () => one.windows(),
      () => one.ledger.grant({ id: "g", account: one.id, window: "week", amountMicro: 1, limits: one.limits }),
      () => one.ledger.reset(one.id, ["week"]),
      () => one.ledger.forget(one.id),
      () => one.ledger.history?.({ account: one.id }),
    ];
    for (const outcome of attempts.map((attempt) => Promise.resolve(attempt()).catch((caught) => caught))) {
      const error = await outcome;
      expect(error).toBeInstanceOf(LedgerUnavailableError);
      expect(error.cause).toBeInstanceOf(Error);
    }
    await server.restart();
    await expect.poll(() => one.ledger.settle(lease, { amountMicro: 20 }).catch(() => undefined)).toBeTruthy();
    // What was repeated by the client when it came back was charged once, or refused for good by `forget`.
    const history = await one.ledger.history?.({ account: one.id });
    expect(history?.entries.filter(({ kind }) => kind === "charge").length).toBeLessThanOrEqual(1);
  });

  it("is unavailable when the server does not answer in time", async () => {
    const server = await start();
    const one = await account(server.port, { timeoutMs: 100 });
    await one.spend(1);
    const control = await admin(server);
    // For longer than any machine takes to come to the next line. The server is stopped then.
    await control.client("PAUSE", "60000", "ALL");
    const error = await one.reserve(1).catch((caught) => caught);
    expect(error).toBeInstanceOf(LedgerUnavailableError);
    expect(error.message).toContain("100 ms");
  });

  it("is unavailable while the server is a replica", async () => {
    const server = await start();
    const one = await account(server.port);
    const control = await admin(server);
    await control.replicaof("127.0.0.1", "1");
    await expect(one.reserve(1)).rejects.toBeInstanceOf(LedgerUnavailableError);
    await control.replicaof("NO", "ONE");
    expect((await one.reserve(1)).ok).toBe(true);
  });

  it("changes nothing in part when the server's memory is full", async () => {
    const server = await start();
    const one = await account(server.port);
    await one.spend(1);
    const lease = await one.admit(5);
    const control = await admin(server);
    await control.config("SET", "maxmemory", "1");
    await expect(one.reserve(1)).rejects.toBeInstanceOf(LedgerUnavailableError);
    await expect(one.ledger.settle(lease, { amountMicro: 4 })).rejects.toBeInstanceOf(LedgerUnavailableError);
    expect(await one.counts()).toEqual(everywhere(1, 5));
    await control.config("SET", "maxmemory", "0");
    expect((await one.ledger.settle(lease, { amountMicro: 4 })).status).toBe("settled");
    expect(await one.counts()).toEqual(everywhere(5, 0));
  });

  it("refuses a server that may evict accounts, until it is told better", async () => {
    const server = await start("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru");
    const one = await account(server.port);
    const error = await one.reserve(1).catch((caught) => caught);
    expect(error).toBeInstanceOf(LedgerUnavailableError);
    expect(error.message).toContain("maxmemory-policy is allkeys-lru");
    const { client, end } = await connect(server.port);
    ends.push(end);
    await expect(redisStores({ client }).keys.find("0".repeat(64))).rejects.toThrow(/noeviction/);
    expect((await (await account(server.port, { allowEviction: true })).reserve(1)).ok).toBe(true);

    await (await admin(server)).config("SET", "maxmemory-policy", "noeviction");
    expect((await one.reserve(1)).ok).toBe(true);
  });

  it("reads the policy again after each reconnection", async () => {
    const server = await start("--maxmemory", "100mb");
    const one = await account(server.port);
    await one.spend(1);
    const control = await admin(server);
    for (const [policy, outcome] of [
      ["allkeys-lru", expect.stringContaining("maxmemory-policy is allkeys-lru")],
      ["noeviction", "spent"],
    ] as const) {
      await control.config("SET", "maxmemory-policy", policy);
      await control.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      const spend = () =>
        one.spend(1).then(
          () => "spent",
          ({ message }) => message,
        );
      await expect.poll(spend).toEqual(outcome);
    }
  });

  it("reads the policy again every five minutes, and not in between", async () => {
    const server = await start("--maxmemory", "100mb");
    const { client, end } = await connect(server.port);
    ends.push(end);
    const control = await admin(server);
    const reads = async () => Number(/cmdstat_info:calls=(\d+)/.exec(await control.info("commandstats"))?.[1] ?? 0);
    const clock = new ManualClock(0);
    const checks = { connection: () => connectionMark(client), now: () => clock.now() };
    const [together, alone] = [false, true].map((isolate) =>
      refuseEviction(scriptRunner(client).run, { ...checks, isolate }),
    ) as [RunScript, RunScript];
    const one = makeScript("return 1");
    const ready = await reads();
    for (const run of [together, alone]) await run(one, ["a"], []);
    await control.config("SET", "maxmemory-policy", "allkeys-lru");
    clock.advance(5 * 60_000 - 1);
    for (let call = 0; call < 10; call++)
      for (const run of [together, alone]) expect(await run(one, ["a"], [])).toBe(1);
    // Each of this client's own, and one for each question of the test.
    expect((await reads()) - ready).toBe(2 + 1);
    clock.advance(1);
    for (const run of [together, alone]) await expect(run(one, ["a"], [])).rejects.toThrow("maxmemory-policy");
    await control.config("SET", "maxmemory-policy", "noeviction");
    const before = await reads();
    const ten = Array.from({ length: 10 }, () => together(one, ["a"], []));
    expect(await Promise.all(ten)).toEqual(Array(10).fill(1));
    expect((await reads()) - before).toBe(1 + 1);
  });

  it("trusts a server that does not tell", async () => {
    const server = await start("--maxmemory-policy", "allkeys-lru");
    const control = await admin(server);
    await control.acl("SETUSER", "default", "-info");
    const one = await account(server.port);
    expect((await one.reserve(1)).ok).toBe(true);
  });
});

describe("options of the Redis stores", () => {
  const client: RedisClient = { evalsha: async () => null, eval: async () => null };

  it.each([undefined, null, {}, { get() {} }, "redis://localhost"])("refuse %j as a client", (other) => {
    expect(() => redisStores({ client: other as never })).toThrow(TypeError);
  });

  it.each(["", "a{b}", "}", 5])("refuse %j as a prefix", (prefix) => {
    expect(() => redisStores({ client, prefix: prefix as string })).toThrow(/prefix/);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31])("refuse a time-out of %d", (timeoutMs) => {
    expect(() => redisStores({ client, timeoutMs })).toThrow(RangeError);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuse a journal of %d entries or days", (count) => {
    expect(() => redisStores({ client, journal: { entries: count } })).toThrow(/journal.entries/);
    expect(() => redisStores({ client, journal: { days: count } })).toThrow(/journal.days/);
  });
});
