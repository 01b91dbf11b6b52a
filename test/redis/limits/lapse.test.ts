import { describe, expect, it } from "vitest";
import { busyAccount } from "../../contracts/busy-account.js";
import { hasRedisServer } from "../../support/redis-server.js";
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

  it("lapse when the call that needed them was ended by a process of the version before, which does not note that", async () => {
    const { account, before } = await busyAccount((clock) => ledgerAt(clock, client()), 2_500);
    await account.ledger.reset(account.id, []);
    const [key = "none"] = (await client().keys("*}")).filter((name) => !name.includes(":due"));
    const record = await client().getBuffer(key);
    expect(record?.toString().endsWith(before.id)).toBe(true);
    // That version writes the record without what it does not know.
    await client().set(key, record?.subarray(0, 152) ?? "");
    await account.ledger.reset(account.id, []);
    const lapsed = async () => {
      const entries = (await account.ledger.history?.({ account: account.id, limit: 1 }))?.entries ?? [];
      return entries.map(({ kind, amountMicro }) => [kind, amountMicro]);
    };
    expect(await lapsed()).toEqual([["topup", 1_000_000]]);
    await client().hdel((await client().keys("*:holds"))[0] ?? "none", before.id, `\x01${before.id}`);
    await client().zrem((await client().keys("*:leases"))[0] ?? "none", before.id);
    await account.ledger.reset(account.id, []);
    expect(await lapsed()).toEqual([["expiry", -10]]);
  });
});
