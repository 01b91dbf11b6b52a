import { afterAll, beforeAll, describe } from "vitest";
import type { IoredisClient } from "../../../src/stores/redis/redis-client.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { UpstashServer } from "../../support/upstash-server.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { upstashClient } from "../stores/redis.js";
import { clients } from "./clients.js";
import { ledgerAt, RedisTest } from "./redis-test.js";

// What operations are, the suites of the stores say. Here they go other ways, in which each must arrive as it was sent.
describe.runIf(hasRedisServer)("the ways of the Redis ledger", () => {
  let redis: RedisTest;
  let rest: UpstashServer;
  const connected = new Map<string, Awaited<ReturnType<(typeof clients)[number][1]>>>();

  beforeAll(async () => {
    redis = await RedisTest.start();
    rest = await UpstashServer.start(redis.server.port);
    for (const [name, connect] of clients) connected.set(name, await connect(redis.server.port));
  });
  afterAll(async () => {
    for (const { end } of connected.values()) end();
    await rest?.stop();
    await redis?.stop();
  });

  const clientOf = (name: string) => connected.get(name)?.client ?? redis.client;
  for (const [name] of clients) {
    for (const batch of [false, { operations: 2 }] as const) {
      describeCreditLedgerModel(
        `redisCreditLedger with ${name} and batches of ${JSON.stringify(batch)}`,
        (clock) => ledgerAt(clock, clientOf(name), batch),
        { runs: 5 },
      );
    }
  }
  describeCreditLedgerModel(
    "redisCreditLedger with a client of the host's own, that reads replies as text",
    (clock) => {
      const { evalsha, eval: evalText } = redis.client as IoredisClient;
      const client: IoredisClient = {
        evalsha: (...call) => evalsha.apply(redis.client, call),
        eval: (...call) => evalText.apply(redis.client, call),
      };
      return ledgerAt(clock, client);
    },
    { runs: 8 },
  );
  describeCreditLedgerModel(
    "redisCreditLedger over Upstash's REST API, as in an isolate",
    (clock) => ledgerAt(clock, upstashClient(rest), undefined, true),
    { runs: 4 },
  );
});
