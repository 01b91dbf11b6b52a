import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, it } from "vitest";
import { redisStores } from "../../src/redis/redis-stores.js";
import { hasRedisServer, RedisServer } from "../support/redis-server.js";
import { expectBothToGoOn } from "./expect-both-to-go-on.js";
import { processes } from "./history/landed.js";
import { olderStores } from "./older-stores.js";

describe.skipIf(!hasRedisServer)("Redis, a process of an earlier version and one of this version", () => {
  let server: RedisServer;
  let clients: Redis[];
  beforeAll(async () => {
    server = await RedisServer.start();
    clients = [new Redis(server.port, "127.0.0.1"), new Redis(server.port, "127.0.0.1")];
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.stop();
  });

  it.each(processes)("go on beside each other: %s", async (commit) => {
    const prefix = `both-${commit}`;
    const older = await olderStores(commit, "redis", { client: clients[0], prefix, timeoutMs: 20_000 });
    const newer = redisStores({ client: clients[1] as Redis, prefix, timeoutMs: 20_000 });
    await expectBothToGoOn({ older, newer });
  });
});
