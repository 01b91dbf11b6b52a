import { describe, expect, it } from "vitest";
import { type Lease, LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";
import { DueAccounts, sweepAccounts } from "../../../src/stores/redis/ledger/sweep-accounts.js";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import { day, Fixture, minute, monthEnd, second, start } from "../../../src/testing/credit-ledger-fixture.js";
import { creditsNow, topUp } from "../../../src/testing/credit-limits/limits-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { emptyRedis } from "./empty-redis.js";
import { ledgerAt } from "./redis-test.js";
import { runAt, shiftedScripts } from "./store-clock.js";

const due = "test:due";

describe.runIf(hasRedisServer)("a sweep of the Redis ledger", () => {
  const redis = emptyRedis();
  const client = () => redis().client;

  /** Accounts of one ledger. */
  function accounts(count: number): Fixture[] {
    const clock = new ManualClock(start);
    const ledger = ledgerAt(clock, client());
    return Array.from({ length: count }, () => new Fixture(clock, ledger, { month: 10 }));
  }

  async function report({ ledger }: Fixture, lease: Lease, observedMicro: number, leaseMs = minute): Promise<void> {
    await ledger.renew([{ lease, observedMicro, leaseMs }]);
  }

  async function checkpoints({ ledger, id }: Fixture): Promise<number[]> {
    const { entries = [] } = (await ledger.history?.({ account: id })) ?? {};
    return entries.filter(({ kind }) => kind === "checkpoint").map(({ amountMicro }) => amountMicro);
  }

  /** How many scripts ran, and how many other commands of a name they called. */
  async function calls(name: string): Promise<number> {
    const stats = await client().info("commandstats");
    return Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  it("costs no call anything, and renewals one script for all accounts that report a cost", async () => {
    const three = accounts(3) as [Fixture, Fixture, Fixture];
    const { ledger } = three[0];
    for (const account of three) await account.spend(1);
    await client().config("RESETSTAT");
    for (const account of three) await account.spend(1);
    expect([await calls("evalsha"), await client().exists(due)]).toEqual([6, 0]);
    const leases = await Promise.all(three.map((account) => account.admit(1)));
    const renewals = leases.map((lease) => ({ lease, observedMicro: 0, leaseMs: minute }));
    await ledger.renew(renewals);
    expect(await client().exists(due)).toBe(0);
    await ledger.renew([...renewals, ...renewals].map((renewal) => ({ ...renewal, observedMicro: 2 })));
    await client().config("RESETSTAT");
    await ledger.renew([...renewals, ...renewals].map((renewal) => ({ ...renewal, observedMicro: 3 })));
    expect([await calls("evalsha"), await client().zcard(due)]).toEqual([4, 3]);
  });

  it("charges what leases of many accounts had reported, each once, though several processes sweep", async () => {
    const all = accounts(250);
    const leases = await Promise.all(all.map((account) => account.admit(5)));
    await all[0]?.ledger.renew(leases.map((lease) => ({ lease, observedMicro: 3, leaseMs: minute })));
    all[0]?.clock.advance(minute);
    const ledgers = Array.from({ length: 4 }, () => ledgerAt(all[0]?.clock as ManualClock, client()));
    const ended = await Promise.all(ledgers.map((ledger) => ledger.sweep?.()));
    expect(ended.reduce((sum: number, count) => sum + (count ?? 0), 0)).toBe(250);
    for (const account of all) expect(await checkpoints(account)).toEqual([3]);
    all[0]?.clock.advance(minute);
    expect(await ledgers[0]?.sweep?.()).toBe(0);
    expect(await client().exists(due)).toBe(0);
  });

  it("goes on where more leases of an account have expired than one script ends", async () => {
    const [account] = accounts(1) as [Fixture];
    const leases = await Promise.all(Array.from({ length: 1_200 }, () => account.admit(0)));
    await account.ledger.renew(leases.map((lease) => ({ lease, observedMicro: 1, leaseMs: minute })));
    account.clock.advance(minute);
    expect(await account.ledger.sweep?.()).toBe(1_200);
    expect((await account.windows()).month.usedMicro).toBe(1_200);
  });

  it("ends each lease in its time, whatever the length of the others", async () => {
    const [account] = accounts(1) as [Fixture];
    const long = await account.admit(1, { leaseMs: 15 * minute });
    const short = await account.admit(1, { leaseMs: minute });
    const settled = await account.admit(1, { leaseMs: second });
    await report(account, settled, 7, second);
    await report(account, short, 2, minute);
    await account.ledger.settle(settled, { amountMicro: 7 });
    account.clock.advance(2 * second);
    await report(account, long, 1, 15 * minute);
    account.clock.advance(minute - 2 * second);
    expect(await account.ledger.sweep?.()).toBe(1);
    expect(await checkpoints(account)).toEqual([2]);
    account.clock.advance(15 * minute);
    expect(await account.ledger.sweep?.()).toBe(1);
    expect(await checkpoints(account)).toEqual([1, 2]);
    expect(await client().exists(due)).toBe(0);
  });

  it("writes nothing to an account whose leases go on, and finds them later", async () => {
    const [account] = accounts(1) as [Fixture];
    const lease = await account.admit(1);
    await report(account, lease, 2);
    account.clock.advance(minute - 1);
    await report(account, lease, 3);
    account.clock.advance(1);
    await client().config("RESETSTAT");
    expect(await account.ledger.sweep?.()).toBe(0);
    expect([await calls("set"), await calls("xadd"), await calls("hset")]).toEqual([0, 0, 0]);
    account.clock.advance(minute);
    expect(await account.ledger.sweep?.()).toBe(1);
    expect(await checkpoints(account)).toEqual([3]);
  });

  it("looks no more after an account of which only leases are open that have cost nothing", async () => {
    const [account] = accounts(1) as [Fixture];
    const lease = await account.admit(1);
    await report(account, lease, 2);
    await account.ledger.settle(lease, { amountMicro: 2 });
    await account.admit(1, { leaseMs: 15 * minute });
    account.clock.advance(minute);
    expect(await account.ledger.sweep?.()).toBe(0);
    expect(await client().exists(due)).toBe(0);
  });

  it("misses no cost that is reported while it sweeps", async () => {
    const [account] = accounts(1) as [Fixture];
    const [first, later] = [await account.admit(1), await account.admit(1, { leaseMs: 15 * minute })];
    await report(account, first, 2);
    account.clock.advance(minute);
    const { run } = connectionOf({ client: client(), prefix: "test", timeoutMs: 20_000 });
    const dueAccounts = new DueAccounts(runAt(run, account.clock), shiftedScripts, "test");
    const inScript: string[] = [];
    const total = await sweepAccounts(dueAccounts, async (digest) => {
      inScript.push(digest);
      // The account's script has found no further cost, and then this is reported.
      await report(account, later, 4, 15 * minute);
      return [1, ""];
    });
    expect([total, inScript.length]).toEqual([1, 1]);
    account.clock.advance(15 * minute);
    expect(await account.ledger.sweep?.()).toBe(1);
    expect(await checkpoints(account)).toEqual([4, 2]);
  });

  it("is repeated ten seconds later where a process dies that sweeps", async () => {
    const [account] = accounts(1) as [Fixture];
    await report(account, await account.admit(1), 2);
    account.clock.advance(minute);
    const { run } = connectionOf({ client: client(), prefix: "test", timeoutMs: 20_000 });
    const dueAccounts = new DueAccounts(runAt(run, account.clock), shiftedScripts, "test");
    expect(await dueAccounts.take(10)).toHaveLength(1);
    expect(await account.ledger.sweep?.()).toBe(0);
    account.clock.advance(10 * second);
    expect(await account.ledger.sweep?.()).toBe(0);
    account.clock.advance(1);
    expect(await account.ledger.sweep?.()).toBe(1);
  });

  it("sweeps the others where one account cannot be, and then throws", async () => {
    const [broken, sound] = accounts(2) as [Fixture, Fixture];
    for (const account of [broken, sound]) await report(account, await account.admit(1), 2);
    const [key = ""] = (await client().keys("test:{*}")).filter((name) => name.endsWith("}"));
    await client().del(key);
    await client().lpush(key, "not an account");
    sound.clock.advance(minute);
    await expect(sound.ledger.sweep?.()).rejects.toThrow("WRONGTYPE");
    const swept = [await checkpoints(sound), await checkpoints(broken)];
    expect(swept).toContainEqual([2]);
    expect(swept).toContainEqual([]);
    // The other one is due again.
    expect(await client().zcard(due)).toBe(1);
  });

  it("lets prepaid credits lapse that have expired, once no lease of the account is open", async () => {
    const [account] = accounts(1) as [Fixture];
    await topUp(account, 8, { expiresAt: start + second });
    await report(account, await account.admit(5), 3);
    account.clock.advance(minute);
    expect(await account.ledger.sweep?.()).toBe(1);
    const { entries = [] } = (await account.ledger.history?.({ account: account.id })) ?? {};
    expect(entries.map(({ kind, amountMicro }) => [kind, amountMicro])).toEqual([
      ["expiry", -8],
      ["checkpoint", 3],
      ["topup", 8],
    ]);
  });

  it("charges prepaid credits, and the journal of an account without any, a month after all processes were down", async () => {
    const [planned, paying] = accounts(2) as [Fixture, Fixture];
    await topUp(paying, 100);
    for (const account of [planned, paying]) await report(account, await account.admit(40), 30);
    const away = monthEnd - start + 29 * day;
    planned.clock.advance(away);
    for (const key of await client().keys("*")) {
      const left = await client().pttl(key);
      if (left >= 0 && left <= away) await client().del(key);
      else if (left > away) await client().pexpire(key, left - away);
    }
    expect(await planned.ledger.sweep?.()).toBe(2);
    expect([await checkpoints(planned), await checkpoints(paying)]).toEqual([[30], [30]]);
    // The month that it belongs to is over, and so is what that had.
    expect((await planned.windows()).month.usedMicro).toBe(0);
    expect((await creditsNow(paying)).prepaid).toMatchObject({ heldMicro: 0 });
  });

  it("fails alone where Redis cannot keep which accounts are due, and no renewal with it", async () => {
    const [account] = accounts(1) as [Fixture];
    await client().set(due, "no sorted set");
    const renewals = [{ lease: await account.admit(1), observedMicro: 2, leaseMs: minute }];
    expect(await account.ledger.renew(renewals)).toEqual(["renewed"]);
    await expect(account.ledger.sweep?.()).rejects.toBeInstanceOf(LedgerUnavailableError);
    await client().del(due);
    await account.ledger.renew(renewals);
    account.clock.advance(minute);
    expect(await account.ledger.sweep?.()).toBe(1);
  });

  it("minds no account that has gone or was forgotten", async () => {
    const [gone, forgotten] = accounts(2) as [Fixture, Fixture];
    for (const account of [gone, forgotten]) await report(account, await account.admit(1), 2);
    await forgotten.ledger.forget(forgotten.id);
    for (const key of await client().keys("*:leases")) await client().del(key);
    gone.clock.advance(minute);
    expect(await gone.ledger.sweep?.()).toBe(0);
    expect(await client().exists(due)).toBe(0);
  });
});
