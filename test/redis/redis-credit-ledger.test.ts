import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe } from "vitest";
import type { Clock } from "../../src/ledger/clock.js";
import type { RedisClient } from "../../src/redis/redis-client.js";
import { creditLedgerOn } from "../../src/redis/redis-credit-ledger.js";
import { connectionOf } from "../../src/redis/redis-options.js";
import { describeCreditLedger } from "../contracts/credit-ledger.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { hasRedisServer, RedisServer } from "../support/redis-server.js";
import { runAt, shiftedScripts } from "./store-clock.js";

/** By the name of its library, a client and what ends it. */
const clients: Record<string, (url: string) => Promise<{ client: RedisClient; end: () => unknown }>> = {
  ioredis: async (url) => {
    const client = new Redis(url);
    return { client, end: () => client.disconnect() };
  },
  "node-redis": async (url) => {
    const client = await createClient({ url }).connect();
    return { client, end: () => client.destroy() };
  },
};

describe.runIf(hasRedisServer).each(Object.entries(clients))("redisCreditLedger with %s", (name, connect) => {
  let server: RedisServer;
  let connected: Awaited<ReturnType<typeof connect>>;

  beforeAll(async () => {
    server = await RedisServer.start();
    connected = await connect(server.url);
  });

  afterAll(async () => {
    connected?.end();
    await server?.stop();
  });

  function make(clock: Clock) {
    const { run, ...rest } = connectionOf({ client: connected.client, prefix: "test" });
    return creditLedgerOn({ run: runAt(run, clock), ...rest }, { days: 400 }, shiftedScripts);
  }

  describeCreditLedger(name, make, { ids: "per account" });
  describeCreditLedgerModel(name, make, { runs: 100 });
});
