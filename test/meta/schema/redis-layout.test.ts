import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { readDump, releases } from "./dump.js";
import { redisLayout } from "./redis-layout.js";
import { redisLayouts } from "./redis-layouts.js";
import { todaysRedisLayout } from "./todays-redis-layout.js";

describe.skipIf(!hasRedisServer)("the layout of keys in Redis", () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.port, "127.0.0.1");
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  it("is the newest that is released", async () => {
    const layout = await todaysRedisLayout(client);
    expect(layout, "It has changed: see docs/adding/schema.md.").toBe(redisLayouts().at(-1));
  });

  it.each(releases())("of a release is in the list: %s", (release) => {
    expect(redisLayouts()).toContain(redisLayout(JSON.parse(readDump(release, "redis").text)));
  });
});
