import { afterAll, beforeAll, describe } from "vitest";
import { hasRedisServer } from "../../support/redis-server.js";
import { ledgerAt, RedisTest } from "../redis/redis-test.js";
import { describeModelRun } from "./model-run.js";

describe.runIf(hasRedisServer)("the model run", () => {
  let test: RedisTest;
  beforeAll(async () => {
    test = await RedisTest.start();
  });
  afterAll(() => test?.stop());

  describeModelRun("redis", () => ({
    make: (clock) => ledgerAt(clock, test.client),
    remove: () => test.client.flushall(),
  }));
});
