import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { createClient, createSentinel } from "redis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { bundled } from "../../support/bundled.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { type Connected, clients } from "./clients.js";

/** Against what hangs: a client that has lost its server takes its time to come back. */
const waiting = { timeout: 50_000, interval: 10 };

describe.runIf(hasRedisServer).each(clients)("changes in Redis, with %s", (library, connect) => {
  let server: RedisServer;
  let connected: Connected;
  let serial = 0;

  beforeEach(async () => {
    server = await RedisServer.start();
    connected = await connect(server.port);
  });

  afterEach(async () => {
    connected.end();
    await server.stop();
  });

  const newKey = () => {
    const id = `key-${++serial}`;
    return { id, hash: hashKey(id), hint: "sk-…", account: "a", plan: "p", createdAt: serial };
  };

  async function subscribers(): Promise<number> {
    const control = new Redis(server.port, "127.0.0.1");
    const list = String(await control.call("CLIENT", "LIST", "TYPE", "pubsub"));
    control.disconnect();
    return list.split("\n").filter((line) => line.includes("id=")).length;
  }

  it("are heard over one connection, which is gone with the last who listens", async () => {
    const { keys, plans } = redisStores({ client: connected.client });
    const heard: string[] = [];
    const ends = [
      await keys.subscribe?.((hash) => heard.push(`key ${hash}`)),
      await keys.subscribe?.(() => {}),
      await plans.subscribe?.((id) => heard.push(`plan ${id}`)),
    ];
    expect(await subscribers()).toBe(1);
    const key = newKey();
    await keys.insert(key);
    await plans.put({ id: "pro max", models: [] });
    await vi.waitFor(() => expect(heard).toEqual([`key ${key.hash}`, "plan pro max"]), waiting);
    for (const end of ends) await end?.();
    await expect.poll(subscribers, waiting).toBe(0);
    const again = await keys.subscribe?.((hash) => heard.push(hash));
    await keys.update(key.id, { name: "again" });
    await vi.waitFor(() => expect(heard.at(-1)).toBe(key.hash), waiting);
    await again?.();
  });

  it("are heard again after the server was gone for a while", async () => {
    const { keys } = redisStores({ client: connected.client });
    const heard: string[] = [];
    const end = await keys.subscribe?.((hash) => heard.push(hash));
    await server.kill();
    await sleep(1_500);
    await server.restart();
    const key = newKey();
    await vi.waitFor(async () => await keys.insert(key), waiting);
    await vi.waitFor(async () => {
      await keys.update(key.id, { name: "n" });
      expect(heard).toContain(key.hash);
    }, waiting);
    await end?.();
  });

  it("cannot be subscribed to where there is no server", async () => {
    const { keys } = redisStores({ client: connected.client });
    await server.kill();
    await expect(keys.subscribe?.(() => {})).rejects.toBeInstanceOf(Error);
  });

  it("stay apart by prefix", async () => {
    const [one, other] = ["one", "other"].map((prefix) => redisStores({ client: connected.client, prefix }));
    const heard: string[] = [];
    const end = await one?.plans.subscribe?.((id) => heard.push(id));
    await other?.plans.put({ id: "p", models: [] });
    await one?.plans.put({ id: "q", models: [] });
    await vi.waitFor(() => expect(heard).toEqual(["q"]), waiting);
    await end?.();
  });

  it.each(["running", "gone"])("keep no process alive, with the server %s", async (state) => {
    const file = await bundled(fileURLToPath(new URL("fixtures/subscriber.ts", import.meta.url)));
    const child = spawn(process.execPath, [file, library, String(server.port)]);
    // It may end while the server is being stopped.
    const exit = once(child, "exit");
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    await vi.waitFor(() => expect(output).toContain("subscribed"), { timeout: 20_000, interval: 10 });
    if (state === "gone") await server.kill();
    const [code] = await exit;
    expect({ code, output }).toEqual({ code: 0, output: "subscribed\n" });
  });
});

describe.runIf(hasRedisServer)("a client that cannot subscribe", () => {
  it("makes stores without subscriptions", async () => {
    const sentinel = createSentinel({ name: "main", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] });
    const { keys, plans } = redisStores({ client: sentinel });
    expect([keys.subscribe, plans.subscribe]).toEqual([undefined, undefined]);
  });

  it("is told from one that can, connected or not", () => {
    const ioredis = new Redis({ lazyConnect: true });
    const nodeRedis = createClient();
    for (const client of [ioredis, nodeRedis]) expect(redisStores({ client }).keys.subscribe).toBeInstanceOf(Function);
  });

  it("with a key prefix hears what it publishes", async () => {
    const server = await RedisServer.start();
    const client = new Redis(server.port, "127.0.0.1", { keyPrefix: "host:" });
    const { plans } = redisStores({ client });
    const heard: string[] = [];
    const end = await plans.subscribe?.((id) => heard.push(id));
    await plans.put({ id: "p", models: [] });
    await vi.waitFor(() => expect(heard).toEqual(["p"]), waiting);
    expect(await plans.find("p")).toEqual({ id: "p", models: [] });
    await end?.();
    client.disconnect();
    await server.stop();
  });
});
