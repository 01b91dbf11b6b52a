import { describe, expect, it } from "vitest";
import type { Lease } from "../../../src/ledger/credit-ledger.js";
import { everywhere, type Fixture, minute, start, unique } from "../../../src/testing/credit-ledger-fixture.js";
import { creditsNow, prepaidLeft, topUp } from "../../../src/testing/credit-limits/limits-fixture.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { emptyRedis } from "../empty-redis.js";

const bytesOfPlain = 11 * 8;

describe.runIf(hasRedisServer)("leases in Redis and the version before who pays was decided at the end", () => {
  const redis = emptyRedis();
  const client = () => redis().client;
  const keyOf = async (name: string) => (await client().keys(`*:${name}`))[0] ?? "none";
  const packedOf = async ({ id }: Lease) => client().hgetBuffer(await keyOf("holds"), id);

  /** Of a part's fields, what the version before may read. */
  async function partOf({ id }: Lease): Promise<unknown> {
    const script = `
      local part = cmsgpack.unpack(redis.call('HGET', KEYS[1], '\\1' .. ARGV[1]))
      return { part.prepaidAt or 'none', part.at or 'none', part.prepaid or 'none' }
    `;
    return client().eval(script, 1, await keyOf("holds"), id);
  }

  /** Makes a hold one that the version before has written: eleven numbers, and all or nothing of it is prepaid. */
  async function age(lease: Lease): Promise<Lease> {
    const script = `
      local packed = redis.call('HGET', KEYS[1], ARGV[1])
      redis.call('HSET', KEYS[1], ARGV[1], string.sub(packed, 1, ${bytesOfPlain}))
      local part = redis.call('HGET', KEYS[1], '\\1' .. ARGV[1])
      if not part then return end
      part = cmsgpack.unpack(part)
      part.prepaid, part.at = nil, nil
      redis.call('HSET', KEYS[1], '\\1' .. ARGV[1], cmsgpack.pack(part))
    `;
    await client().eval(script, 1, await keyOf("holds"), lease.id);
    const { prepaidMicro, ...aged } = lease;
    return aged;
  }

  async function grant({ ledger, id, limits }: Fixture, amountMicro: number): Promise<void> {
    await ledger.grant({ id: unique("grant"), account: id, window: "month", amountMicro, limits });
  }

  it("take 32 bytes more than then, their receipts none, and 8 where prepaid credits paid", async () => {
    const account = redis().accountAt(start, { month: 10 });
    const lease = await account.admit(4);
    expect(await packedOf(lease)).toHaveLength(bytesOfPlain + 4 * 8);
    await account.ledger.settle(lease, { amountMicro: 4 });
    expect(await client().strlen(await keyOf(`ended:${lease.id}`))).toBe(bytesOfPlain);
    await topUp(account, 100);
    const split = await account.admit(9);
    await account.ledger.settle(split, { amountMicro: 9 });
    expect(await client().strlen(await keyOf(`ended:${split.id}`))).toBe(bytesOfPlain + 8);
  });

  it("say to it that they are prepaid where some of them is, and else that the plan pays", async () => {
    const account = redis().accountAt(start, { month: 10 });
    await topUp(account, 100);
    const [planned, split] = [await account.admit(4), await account.admit(9)];
    expect(await partOf(planned)).toEqual(["none", start, 0]);
    expect(await partOf(split)).toEqual([start, "none", 3]);
  });

  it("are paid by prepaid credits alone where it had so admitted them", async () => {
    const account = redis().accountAt(start, { month: 0 });
    await topUp(account, 100);
    const lease = await age(await account.admit(40));
    await grant(account, 25);
    expect((await creditsNow(account)).prepaid?.heldMicro).toBe(40);
    const settled = await account.ledger.settle(lease, { amountMicro: 40 });
    expect(settled).toMatchObject({ prepaidMicro: 40, prepaid: prepaidLeft(60) });
    expect(await account.counts()).toEqual(everywhere(0, 0));
  });

  it("are paid by the plan alone where it had so admitted them", async () => {
    const account = redis().accountAt(start, { month: 10 });
    await topUp(account, 100);
    const lease = await age(await account.admit(10));
    const settled = await account.ledger.settle(lease, { amountMicro: 40 });
    expect([settled.prepaidMicro, settled.prepaid]).toEqual([undefined, prepaidLeft(100)]);
    expect(await account.counts()).toEqual(everywhere(40, 0));
  });

  it("give back to prepaid credits what their expiry had charged", async () => {
    const account = redis().accountAt(start, { month: 0 });
    await topUp(account, 100);
    const lease = await age(await account.admit(40));
    await account.ledger.renew([{ lease, observedMicro: 50, leaseMs: minute }]);
    expect((await creditsNow(account)).prepaid?.heldMicro).toBe(50);
    account.clock.advance(minute);
    expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(50));
    const settled = await account.ledger.settle(lease, { amountMicro: 15 });
    expect(settled).toMatchObject({ status: "late", prepaidMicro: 15, prepaid: prepaidLeft(85) });
    expect(await account.counts()).toEqual(everywhere(0, 0));
  });

  it("leave no more to spend where it ends one of which the plan holds a part", async () => {
    const account = redis().accountAt(start, { month: 10 });
    await topUp(account, 100);
    await account.admit(12);
    // As it ends the lease: it takes all of the hold from what prepaid credits hold.
    const script = `
      local packed = redis.call('GET', KEYS[1])
      local held = struct.unpack('<d', packed)
      redis.call('SET', KEYS[1], struct.pack('<d', held - 12) .. string.sub(packed, 9))
    `;
    await client().eval(script, 1, await keyOf("prepaid"));
    expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(100));
    await account.ledger.settle(await account.admit(5), { amountMicro: 1 });
    expect((await creditsNow(account)).prepaid).toMatchObject({ heldMicro: 0 });
  });

  it("are in its journal with what prepaid credits paid, and it writes entries without that", async () => {
    const account = redis().accountAt(start, { month: 10 });
    await topUp(account, 100);
    await account.ledger.settle(await account.admit(14), { amountMicro: 14 });
    const lengths = [];
    for (const [, fields] of await client().xrangeBuffer(await keyOf("journal"), "-", "+")) {
      lengths.push(fields[5]?.length);
    }
    expect(lengths).toEqual([5 * 8, 6 * 8]);
  });
});

describe.runIf(hasRedisServer)("the ids of top-ups and deductions in Redis", () => {
  const redis = emptyRedis();
  const client = () => redis().client;

  it("go to one of the accounts that are given the same one at once", async () => {
    const accounts = Array.from({ length: 20 }, () => redis().accountAt());
    const id = unique("topup");
    const outcomes = await Promise.allSettled(accounts.map((account) => topUp(account, 5, { id })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const balances = await Promise.all(accounts.map(async (account) => (await creditsNow(account)).prepaid));
    expect(balances.filter((prepaid) => prepaid !== undefined)).toEqual([prepaidLeft(5)]);
  });

  it("are known for as long as the account knows them, and a day more, whenever they were used last", async () => {
    const account = redis().accountAt();
    const id = unique("topup");
    await topUp(account, 5, { id });
    const [key = ""] = await client().keys("test:topup:*");
    expect(key).not.toContain(id);
    await client().pexpire(key, minute);
    await topUp(account, 5, { id });
    expect(await client().pttl(key)).toBeGreaterThan(31 * 86_400_000);
    expect((await creditsNow(account)).prepaid).toEqual(prepaidLeft(5));
  });
});
