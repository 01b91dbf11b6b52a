import { describe, expect, it } from "vitest";
import type { Lease } from "../../../../src/ledger/credit-ledger.js";
import { minute, start, unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { creditsNow, prepaidLeft, topUp } from "../../../../src/testing/credit-limits/limits-fixture.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { emptyRedis } from "../empty-redis.js";

const bytesOfPlain = 11 * 8;

describe.runIf(hasRedisServer)("leases in Redis", () => {
  const redis = emptyRedis();
  const client = () => redis().client;
  const keyOf = async (name: string) => (await client().keys(`*:${name}`))[0] ?? "none";
  const packedOf = async ({ id }: Lease) => client().hgetBuffer(await keyOf("holds"), id);

  it("take 120 bytes, their receipts 88, and 8 more where prepaid credits paid", async () => {
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

  it("are in the journal with what prepaid credits paid, where that is not nothing", async () => {
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
