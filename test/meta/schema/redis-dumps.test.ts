import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, it } from "vitest";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import { creditLedgerOn } from "../../../src/stores/redis/redis-credit-ledger.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { runAt, shiftedScripts } from "../../contract/redis/store-clock.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { readDump, releases } from "./dump.js";
import { dumpRedis, loadRedis } from "./dump-redis.js";
import { expectBooks } from "./expect-books.js";
import { writeBooks } from "./write-books.js";

describe.skipIf(!hasRedisServer)("Redis, books that a version has left", () => {
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

  function storesAt(clock: ManualClock) {
    const { run, ...rest } = connectionOf({ client, timeoutMs: 20_000 });
    const ledger = creditLedgerOn({ run: runAt(run, clock), ...rest }, {}, shiftedScripts);
    const { keys, plans, accounts, responses, budgets, modelStore } = redisStores({ client });
    return { keys, plans, ledger, accounts, responses, budgets, modelStore };
  }

  async function dumpOfToday() {
    await client.flushall();
    const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 31));
    const stores = storesAt(clock);
    const books = await writeBooks(stores, { now: () => clock.now(), pass: (ms) => clock.advance(ms) });
    await stores.ledger.close();
    return { text: JSON.stringify(await dumpRedis(client)), books };
  }

  it.each(["today", ...releases()])("are taken on: %s", async (release) => {
    const { text, books } = release === "today" ? await dumpOfToday() : readDump(release, "redis");
    await client.flushall();
    await loadRedis(client, JSON.parse(text));
    const stores = storesAt(new ManualClock(books.at));
    await expectBooks(stores, books);
    await stores.ledger.close();
  });
});
