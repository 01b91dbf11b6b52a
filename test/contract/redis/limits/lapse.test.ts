import { describe, expect, it } from "vitest";
import { hasRedisServer } from "../../../support/redis-server.js";
import { busyAccount } from "../../contracts/busy-account.js";
import { emptyRedis } from "../empty-redis.js";
import { ledgerAt } from "../redis-test.js";

describe.runIf(hasRedisServer)("prepaid credits in Redis that have expired", () => {
  const redis = emptyRedis();
  const client = () => redis().client;

  /** How often all open leases were read since the last time. */
  async function looks(): Promise<number> {
    const stats = await client().info("commandstats");
    await client().config("RESETSTAT");
    return Number(/cmdstat_zrange:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  }

  it("have operations not each look at all open calls while one of them needs them", async () => {
    const { account, before } = await busyAccount((clock) => ledgerAt(clock, client()), 50);
    await account.ledger.reset(account.id, []);
    await looks();
    for (let operation = 0; operation < 20; operation++) await account.ledger.reset(account.id, []);
    expect(await looks()).toBe(0);
    await account.ledger.release(before);
    await account.ledger.reset(account.id, []);
    expect(await looks()).toBe(1);
  });
});
