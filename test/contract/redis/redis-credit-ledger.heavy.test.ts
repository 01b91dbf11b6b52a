import { afterAll, beforeAll, describe } from "vitest";
import type { Clock } from "../../../src/ledger/calendar.js";
import type { IoredisClient } from "../../../src/stores/redis/redis-client.js";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import { creditLedgerOn, type RedisCreditLedgerOptions } from "../../../src/stores/redis/redis-credit-ledger.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { type Connected, clients, connectIoredis } from "./clients.js";
import { ledgerAt } from "./redis-test.js";
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

  function makerWith(batch: RedisCreditLedgerOptions["batch"]) {
    return (clock: Clock) => {
      const { run, ...rest } = connectionOf({ client: connected.client, prefix: "test", timeoutMs: 20_000 });
      return creditLedgerOn({ run: runAt(run, clock), ...rest }, { journal: { days: 400 }, batch }, shiftedScripts);
    };
  }

  const make = makerWith(undefined);
  describeCreditLedger(`redisCreditLedger, ${name}`, make, {
    ids: "per account",
    limits: true,
    holds: name === "ioredis" ? 10_000 : 1_000,
  });
  describeCreditLedgerModel(`redisCreditLedger, ${name}`, make, { runs: name === "ioredis" ? 20 : 10 });
  for (const batch of [false, { operations: 2 }] as const) {
    describe(`and batches of ${JSON.stringify(batch)}`, () => {
      describeCreditLedgerModel(`redisCreditLedger, ${name}`, makerWith(batch), { runs: 5 });
    });
  }
});

describe.runIf(hasRedisServer)("with a client of the host's own, that reads replies as text", () => {
  let server: RedisServer;
  let connected: Connected;

  beforeAll(async () => {
    server = await RedisServer.start();
    connected = await connectIoredis(server.port);
  });

  afterAll(async () => {
    connected?.end();
    await server?.stop();
  });

  function make(clock: Clock) {
    const { evalsha, eval: evalText } = connected.client as IoredisClient;
    const client: IoredisClient = {
      evalsha: (...call) => evalsha.apply(connected.client, call),
      eval: (...call) => evalText.apply(connected.client, call),
    };
    return ledgerAt(clock, client);
  }

  describeCreditLedger("redisCreditLedger, text", make, { ids: "per account", limits: true, holds: 1_000 });
  describeCreditLedgerModel("redisCreditLedger, text", make, { runs: 5 });
});
