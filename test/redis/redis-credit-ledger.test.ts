import { afterAll, beforeAll, describe } from "vitest";
import type { Clock } from "../../src/ledger/clock.js";
import { creditLedgerOn } from "../../src/redis/redis-credit-ledger.js";
import { connectionOf } from "../../src/redis/redis-options.js";
import { describeCreditLedger } from "../../src/testing/describe-credit-ledger.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { hasRedisServer, RedisServer } from "../support/redis-server.js";
import { type Connected, clients } from "./clients.js";
import { runAt, shiftedScripts } from "./store-clock.js";

describe.runIf(hasRedisServer).each(clients)("with %s", (name, connect) => {
  let server: RedisServer;
  let connected: Connected;

  beforeAll(async () => {
    server = await RedisServer.start();
    connected = await connect(server.port);
  });

  afterAll(async () => {
    connected?.end();
    await server?.stop();
  });

  function make(clock: Clock) {
    const { run, ...rest } = connectionOf({ client: connected.client, prefix: "test", timeoutMs: 20_000 });
    return creditLedgerOn({ run: runAt(run, clock), ...rest }, { journal: { days: 400 } }, shiftedScripts);
  }

  describeCreditLedger(`redisCreditLedger, ${name}`, make, {
    ids: "per account",
    holds: name === "ioredis" ? 10_000 : 1_000,
  });
  describeCreditLedgerModel(`redisCreditLedger, ${name}`, make, { runs: name === "ioredis" ? 20 : 10 });
});
