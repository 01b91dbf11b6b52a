import { afterAll, beforeEach } from "vitest";
import { RedisTest } from "./redis-test.js";

/** One server for the tests of a suite, empty at the start of each. */
export function emptyRedis(): () => RedisTest {
  let test: RedisTest | undefined;
  beforeEach(async () => {
    test ??= await RedisTest.start();
    await test.client.flushall();
  });
  afterAll(() => test?.stop());
  return () => test as RedisTest;
}
