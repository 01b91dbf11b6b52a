import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, it } from "vitest";
import { creditLedgerOn } from "../../src/redis/redis-credit-ledger.js";
import { connectionOf } from "../../src/redis/redis-options.js";
import { redisStores } from "../../src/redis/redis-stores.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { runAt, shiftedScripts } from "../redis/store-clock.js";
import { hasRedisServer, RedisServer } from "../support/redis-server.js";
import { commitsOf, readDump } from "./dump.js";
import { expectBooks } from "./expect-books.js";
import { loadRedis } from "./history/dump-redis.js";

describe.skipIf(!hasRedisServer)("Redis, books that earlier versions have left", () => {
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

  it.each(commitsOf("redis"))("are taken on: %s", async (commit) => {
    const { text, books } = readDump(commit, "redis");
    await client.flushall();
    await loadRedis(client, JSON.parse(text));
    const { run, ...rest } = connectionOf({ client, timeoutMs: 20_000 });
    const ledger = creditLedgerOn({ run: runAt(run, new ManualClock(books.at)), ...rest }, {}, shiftedScripts);
    const { keys, plans, accounts, responses, budgets, catalog } = redisStores({ client });
    await expectBooks({ keys, plans, ledger, accounts, responses, budgets, catalog }, books);
    await ledger.close();
  });
});
