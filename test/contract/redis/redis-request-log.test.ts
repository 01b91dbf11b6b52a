import { afterAll, beforeAll, describe } from "vitest";
import { redisRequestLog } from "../../../src/stores/redis/redis-request-log.js";
import { describeRequestLog } from "../../../src/testing/request-log/describe-request-log.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { type Connected, clients } from "./clients.js";
import { RedisTest } from "./redis-test.js";

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

  for (const [index, [name]] of clients.entries()) {
    describeRequestLog(`redisRequestLog on ${name}`, (limits) => {
      const client = connected[index]?.client ?? redis.client;
      return redisRequestLog({ client, prefix: "test", timeoutMs: 20_000, ...limits });
    });
  }
});
