import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";
import { type Connected, clients } from "./clients.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Pair {
  readonly master: Redis;
  readonly replica: Redis;
  readonly proxy: TcpProxy;
  readonly ports: readonly [master: number, replica: number];
}

/** A master, its replica, and an address that leads to the master. */
async function startPair(): Promise<Pair> {
  const servers = [await RedisServer.start("--repl-diskless-sync-delay", "0"), await RedisServer.start()] as const;
  const [master, replica] = servers.map(({ port }) => new Redis(port, "127.0.0.1")) as [Redis, Redis];
  for (const admin of [master, replica]) {
    admin.on("error", () => {});
    ends.push(() => admin.disconnect());
  }
  for (const server of servers) ends.unshift(() => server.stop());
  const ports = servers.map(({ port }) => port) as [number, number];
  await replica.replicaof("127.0.0.1", ports[0]);
  const proxy = await TcpProxy.start(ports[0]);
  ends.push(() => proxy.close());
  return { master, replica, proxy, ports };
}

/** The replica takes the place of the master, whose connections stay. */
async function swap({ master, replica, proxy, ports }: Pair): Promise<void> {
  // All that was written before it has arrived with it.
  await master.set("marker", "1");
  await expect.poll(() => master.wait(1, 1_000)).toBe(1);
  await replica.replicaof("NO", "ONE");
  await master.replicaof("127.0.0.1", ports[1]);
  proxy.target = ports[1];
}

const connectionsOf = async (admin: Redis) =>
  Number(/total_connections_received:(\d+)/.exec(await admin.info("stats"))?.[1]);

function notYetConnected(port: number): Connected {
  const client = new Redis(port, "127.0.0.1");
  client.on("error", () => {});
  return { client, end: () => client.disconnect() };
}

const outcomeOf = (spending: Promise<void>) =>
  spending.then(
    () => "spent",
    (error: Error) => error.message,
  );

describe.runIf(hasRedisServer).each(clients)("a master that was demoted, with %s", (name, connect) => {
  let pair: Pair;
  beforeEach(async () => {
    pair = await startPair();
  });

  it("is left for the one that has taken its place, and no command on its way is lost", async () => {
    const { client, end } = name === "ioredis" ? notYetConnected(pair.proxy.port) : await connect(pair.proxy.port);
    ends.push(end);
    const one = new Fixture(new ManualClock(Date.now()), redisCreditLedger({ client }), {});
    for (let count = 0; count < 5; count++) await one.spend(1);
    await swap(pair);
    const reads = client as object as { get(key: string): Promise<unknown> };
    const before = Array.from({ length: 100 }, () => reads.get("host"));
    const failing = outcomeOf(one.spend(1));
    const after = Array.from({ length: 100 }, () => reads.get("host"));
    expect(await failing).toContain("READONLY");
    await Promise.all([...before, ...after]);
    await expect.poll(() => outcomeOf(one.spend(1))).toBe("spent");
    expect(await one.counts()).toMatchObject({ month: [6, 0] });
  });

  it("is not connected to over and over, where the client leads to nothing else", async () => {
    const { client, end } = await connect(pair.ports[1]);
    ends.push(end);
    const one = new Fixture(new ManualClock(Date.now()), redisCreditLedger({ client }), {});
    expect(await outcomeOf(one.spend(1))).toContain("READONLY");
    const before = await connectionsOf(pair.replica);
    for (let count = 0; count < 20; count++) await outcomeOf(one.spend(1));
    expect((await connectionsOf(pair.replica)) - before).toBeLessThanOrEqual(1);
  });

  if (name === "ioredis") {
    it("is the host's matter where the host has a rule of its own", async () => {
      const errors: string[] = [];
      const reconnectOnError = ({ message }: Error) => errors.push(message) < 0;
      const client = new Redis(pair.ports[1], "127.0.0.1", { reconnectOnError });
      ends.push(() => client.disconnect());
      const one = new Fixture(new ManualClock(Date.now()), redisCreditLedger({ client }), {});
      expect(await outcomeOf(one.spend(1))).toContain("READONLY");
      const before = await connectionsOf(pair.replica);
      for (let count = 0; count < 5; count++) await outcomeOf(one.spend(1));
      expect([(await connectionsOf(pair.replica)) - before, errors.length > 5]).toEqual([0, true]);
    });
  }
});

describe.runIf(hasRedisServer)("a plain client without the stores", () => {
  it("stays with a master that was demoted", async () => {
    const pair = await startPair();
    const client = createClient({ url: `redis://127.0.0.1:${pair.proxy.port}` });
    client.on("error", () => {});
    await client.connect();
    ends.push(() => client.destroy());
    await swap(pair);
    for (let count = 0; count < 3; count++) await expect(client.set("a", "1")).rejects.toThrow("READONLY");
  });
});
