import { Redis } from "ioredis";
import type { Clock } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { RedisClient } from "../../../src/stores/redis/redis-client.js";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import {
  creditLedgerOn,
  type RedisCreditLedgerOptions,
  redisCreditLedger,
} from "../../../src/stores/redis/redis-credit-ledger.js";
import { Fixture, type FixturePlan, start } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { RedisServer } from "../../support/redis-server.js";
import { runAt, shiftedScripts } from "./store-clock.js";

/** A ledger whose clock is the test's. */
export function ledgerAt(
  clock: Clock,
  client: RedisClient,
  batch?: RedisCreditLedgerOptions["batch"],
  isolate?: boolean,
): CreditLedger {
  const { run, ...rest } = connectionOf({ client, prefix: "test", timeoutMs: 20_000, isolate });
  return creditLedgerOn({ run: runAt(run, clock), ...rest }, { journal: { days: 400 }, batch }, shiftedScripts);
}

/** A server, a client of it, and accounts in its ledger. */
export class RedisTest {
  readonly server: RedisServer;
  readonly client: Redis;

  constructor(server: RedisServer, client: Redis) {
    this.server = server;
    this.client = client;
  }

  static async start(...args: string[]): Promise<RedisTest> {
    const server = await RedisServer.start(...args);
    const client = new Redis(server.port, "127.0.0.1");
    client.on("error", () => {});
    return new RedisTest(server, client);
  }

  /** An account of a ledger on the server's own clock. */
  account(plan: FixturePlan = {}): Fixture {
    return new Fixture(
      new ManualClock(Date.now()),
      redisCreditLedger({ client: this.client, prefix: "test", timeoutMs: 20_000 }),
      plan,
    );
  }

  /** An account of a ledger whose clock stands still. */
  accountAt(now = start, plan: FixturePlan = {}): Fixture {
    const clock = new ManualClock(now);
    return new Fixture(clock, ledgerAt(clock, this.client), plan);
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    await this.server.stop();
  }
}
