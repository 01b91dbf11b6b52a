import { describe, expect, it } from "vitest";
import type { Lease } from "../../../src/ledger/credit-ledger.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import {
  day,
  everywhere,
  Fixture,
  hour,
  monthEnd,
  second,
  start,
  unique,
} from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { emptyRedis } from "./empty-redis.js";

describe.runIf(hasRedisServer)("what the Redis ledger keeps", () => {
  const redis = emptyRedis();
  const client = () => redis().client;
  const bytes = async (key: string | undefined) => (await client().memory("USAGE", key ?? "")) ?? 0;
  const keysLike = (pattern: string) => client().keys(pattern);

  it("is at most 300 bytes for an idle account, and 400 for a request that has just ended", async () => {
    const ledger = redisCreditLedger({ client: client(), journal: false });
    const account = new Fixture(new ManualClock(Date.now()), ledger, {});
    await account.spend(123_456_789_012);
    const [idle, ended] = [await keysLike("infergate:{*}"), await keysLike("infergate:{*}:ended:*")];
    expect([idle.length, ended.length, await client().dbsize()]).toEqual([1, 1, 2]);
    const [idleBytes, endedBytes] = [await bytes(idle[0]), await bytes(ended[0])];
    console.info(`Redis: ${idleBytes} bytes for an idle account, ${endedBytes} for an ended request.`);
    expect(idleBytes).toBeLessThanOrEqual(300);
    expect(endedBytes).toBeLessThanOrEqual(400);
  });

  it("has a time to live, every key of it", async () => {
    const account = redis().accountAt();
    const lease = await account.admit(30);
    await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: 60 * second }]);
    account.clock.advance(60 * second);
    await account.spend(1);
    await account.admit(2);
    const { limits, id: accountId } = account;
    await account.ledger.grant({ id: unique("grant"), account: accountId, window: "week", amountMicro: 5, limits });
    const kept: Record<string, number> = {};
    for (const key of await client().keys("*")) {
      kept[key.replace(/.*}:?|^test:/, "").replace(/:.*/, "") || "account"] = await client().pttl(key);
    }
    const toMonthEnd = monthEnd - account.clock.now() + day;
    const near = (ms: number) => expect.closeTo(ms, -4);
    expect(kept).toEqual({
      account: near(toMonthEnd),
      holds: near(toMonthEnd + 30 * day),
      leases: near(toMonthEnd + 30 * day),
      expired: near(toMonthEnd + 30 * day),
      due: near(60 * day),
      journal: near(401 * day),
      ended: near(120 * second),
      grant: near(31 * day),
    });
  });

  it("keeps holds as long as the account that counts them, also when a new month has begun", async () => {
    const account = redis().accountAt(monthEnd - 10 * second);
    await account.admit(30, { leaseMs: 900 * second });
    account.clock.set(monthEnd);
    await account.spend(1);
    const [holds, leases] = [await keysLike("*:holds"), await keysLike("*:leases")];
    for (const key of [...holds, ...leases]) expect(await client().pttl(key)).toBeGreaterThan(60 * day);
  });

  it("keeps holds as long as the account that counts them, also when a charge has taken up a new month", async () => {
    const account = redis().accountAt(monthEnd - 10 * second);
    const lease = await account.admit(30, { leaseMs: 900 * second });
    account.clock.set(monthEnd);
    const month = account.limits.month.bounds.find((bound) => bound > monthEnd) ?? 0;
    const later = {
      ...lease,
      id: unique("id"),
      starts: { ...lease.starts, month: monthEnd },
      ends: { ...lease.ends, month },
      limits: account.limits,
    };
    expect((await account.ledger.settle(later, { amountMicro: 5 })).status).toBe("recovered");
    const [holds, leases] = [await keysLike("*:holds"), await keysLike("*:leases")];
    for (const key of [...holds, ...leases]) expect(await client().pttl(key)).toBeGreaterThan(60 * day);
    expect([holds.length, leases.length]).toEqual([1, 1]);
  });

  it("is nothing of a request that has ended, but for what was answered to it", async () => {
    const account = redis().accountAt();
    const [lease, late] = [await account.admit(30), await account.admit(30, { leaseMs: second })];
    account.clock.advance(second);
    expect((await account.ledger.settle(late, { amountMicro: 7 })).status).toBe("late");
    expect((await account.ledger.settle(lease, { amountMicro: 7 })).status).toBe("settled");
    const kinds = (await client().keys("*")).map((key) => key.replace(/.*}:?/, "").replace(/:.*/, ""));
    expect(kinds.sort()).toEqual(["", "ended", "ended", "journal"]);
  });

  it("recognises a repetition for as long as one may come, and does not charge what comes later", async () => {
    const account = redis().accountAt();
    const lease = await account.admit(30);
    const settle = (ageMs: number) =>
      account.ledger.settle(
        { ...lease, id: unique("id") },
        { amountMicro: 7, mayBeDuplicateSince: account.clock.now() - ageMs },
      );
    expect((await settle(60 * second)).status).toBe("unresolved");
    expect((await settle(60 * second - 1)).status).toBe("recovered");
  });

  it("lasts as long as the longest window, or a lease beyond it", async () => {
    const account = redis().accountAt();
    const { session, ...calendar } = account.limits;
    await account.admit(1, { limits: { session: { ...session, lengthMs: 90 * day }, ...calendar } });
    const [key] = await keysLike("test:{*}");
    expect(await client().pttl(key ?? "")).toBeGreaterThan(90 * day);
  });

  it("gives holds the time of their account, whatever makes or prolongs either", async () => {
    const account = redis().accountAt();
    const holds = async () => [
      ...(await keysLike("*:holds")),
      ...(await keysLike("*:leases")),
      ...(await keysLike("*:expired")),
    ];
    const soon = async () => {
      for (const key of await holds()) await client().pexpire(key, 60_000);
    };
    const shortest = async () => Math.min(...(await Promise.all((await holds()).map((key) => client().pttl(key)))));

    // New ones of an account that is known.
    await account.ledger.release(await account.admit(0));
    const lease = await account.admit(0);
    expect(await shortest()).toBeGreaterThan(60_000);

    await soon();
    const { session, ...calendar } = account.limits;
    await account.admit(1, { limits: { session: { ...session, lengthMs: 90 * day }, ...calendar } });
    expect(await shortest()).toBeGreaterThan(119 * day);

    await soon();
    await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: 120 * second }]);
    expect(await shortest()).toBeGreaterThan(119 * day);

    await soon();
    account.clock.advance(60 * second);
    await account.ledger.reset(account.id, []);
    expect((await keysLike("*:expired")).length).toBe(1);
    expect(await shortest()).toBeGreaterThan(day);
  });

  it("holds nothing of a denial, a look or a reset of an unknown account", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await account.reserve(1);
    await account.windows();
    await account.ledger.reset(account.id, ["week"]);
    expect(await client().dbsize()).toBe(0);
  });

  it("leaves nothing of the account that is forgotten but when that was, and what was answered to its ids", async () => {
    const account = redis().accountAt();
    await account.spend(1);
    await account.admit(2, { leaseMs: second });
    account.clock.advance(second);
    await account.admit(2);
    expect(await client().dbsize()).toBe(6);
    await account.ledger.forget(account.id);
    const kept = (await client().keys("*")).map((key) => key.replace(/^[^}]*}:?/, "").replace(/:.*/, "") || "account");
    expect(kept.sort()).toEqual(["account", "ended"]);
    const [tombstone = ""] = await keysLike("*}");
    expect(await client().pttl(tombstone)).toEqual(expect.closeTo(day + 900 * second, -4));
    expect(await bytes(tombstone)).toBeLessThanOrEqual(400);
  });

  it("has eight bytes more where it was forgotten once", async () => {
    const account = redis().accountAt();
    await account.spend(3);
    const [key = ""] = await keysLike("*}");
    const plain = (await client().getBuffer(key)) as Buffer;
    // Nothing is added to the account of one who was never forgotten.
    expect(plain).toHaveLength(19 * 8);
    await account.ledger.forget(account.id);
    account.clock.advance(second);
    const lease = await account.admit(5);
    const marked = (await client().getBuffer(key)) as Buffer;
    expect(marked).toHaveLength(20 * 8);
    expect((await account.ledger.settle(lease, { amountMicro: 4 })).status).toBe("settled");
    expect(await account.counts()).toEqual(everywhere(4, 0));
  });

  it("names no account", async () => {
    const account = redis().accountAt();
    await account.spend(1);
    expect((await client().keys("*")).filter((key) => key.includes(account.id))).toEqual([]);
  });

  it("charges what settles after the account's time was up, where the window is still open", async () => {
    const account = redis().accountAt();
    await account.spend(5);
    const lease = await account.admit(30);
    await client().del(...(await client().keys("*")));
    expect((await account.ledger.settle(lease, { amountMicro: 7 })).status).toBe("recovered");
    expect(await account.counts()).toEqual(everywhere(7, 0));
  });

  it("is bounded where holds expire unsettled: they are forgotten in an hour or two", async () => {
    const account = redis().accountAt();
    for (let round = 0; round < 5; round++) {
      for (let index = 0; index < 10; index++) await account.admit(1, { leaseMs: 1_000 });
      account.clock.advance(hour);
      await account.windows();
    }
    await account.admit(1);
    const [holds] = await keysLike("*:holds");
    expect(await client().hlen(holds ?? "")).toBeLessThanOrEqual(11);
    const [expired] = await keysLike("*:expired");
    expect(await client().zcard(expired ?? "")).toBeLessThanOrEqual(10);
  });

  it("remembers an expired hold for as long as it gives signs of life", async () => {
    const account = redis().accountAt();
    const lease = await account.admit(30);
    account.clock.advance(60 * second);
    await account.admit(1, { leaseMs: second });
    account.clock.advance(hour / 2);
    expect(await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: 60 * second }])).toEqual(["expired"]);
    // Something is due, so that what expired an hour before is forgotten.
    await account.admit(1, { leaseMs: second });
    account.clock.advance(hour / 2 + second);
    await account.admit(1);
    expect((await account.ledger.settle(lease, { amountMicro: 9 })).status).toBe("late");
  });

  it("tells what was forgotten from what is unknown", async () => {
    const account = redis().accountAt();
    const lease = await account.admit(30);
    await account.ledger.renew([{ lease, observedMicro: 4, leaseMs: 60 * second }]);
    account.clock.advance(60 * second);
    const late = await account.admit(1, { leaseMs: 1_000 });
    account.clock.advance(hour);
    await account.admit(1);
    expect((await account.ledger.settle(lease, { amountMicro: 9 })).status).toBe("unresolved");
    expect((await account.ledger.settle(late, { amountMicro: 2 })).status).toBe("late");
  });

  it("knows what it has forgotten also after the clock went back, and forgot again", async () => {
    const account = redis().accountAt();
    const lease = await account.admit(30);
    await account.ledger.renew([{ lease, observedMicro: 4, leaseMs: 60 * second }]);
    // Each time something is due, so that what expired an hour before is forgotten.
    for (const moment of [60 * second, hour + 60 * second, -2 * hour, -2 * hour + second, -hour + 2 * second]) {
      account.clock.set(start + moment);
      await account.admit(1, { leaseMs: second });
    }
    expect((await account.ledger.settle(lease, { amountMicro: 9 })).status).toBe("unresolved");
  });

  it("writes no more of the journal than was asked for, by a hundred or so", async () => {
    const ledger = redisCreditLedger({ client: client(), journal: { entries: 100 } });
    const account = new Fixture(new ManualClock(Date.now()), ledger, {});
    for (let amount = 1; amount <= 500; amount++) await account.spend(amount);
    const [journal] = await keysLike("*:journal");
    const length = await client().xlen(journal ?? "");
    expect(length).toBeGreaterThanOrEqual(100);
    expect(length).toBeLessThanOrEqual(200);
    expect((await ledger.history?.({ account: account.id, limit: 1 }))?.entries).toMatchObject([{ amountMicro: 500 }]);
  });

  it("drops entries that are too old", async () => {
    const account = redis().accountAt();
    for (let index = 0; index < 300; index++) await account.spend(1);
    account.clock.advance(402 * day);
    await account.spend(1);
    const [journal] = await keysLike("*:journal");
    expect(await client().xlen(journal ?? "")).toBeLessThanOrEqual(101);
  });

  it("goes on with the journal of an account that is no longer known", async () => {
    const account = redis().accountAt();
    await account.spend(1);
    await account.spend(2);
    await client().del(...(await keysLike("test:{*}")));
    await account.spend(3);
    const page = await account.ledger.history?.({ account: account.id });
    expect(page?.entries.map(({ amountMicro }) => amountMicro)).toEqual([3, 2, 1]);
  });

  it("has no journal where none is wanted", async () => {
    const ledger = redisCreditLedger({ client: client(), journal: false });
    expect(ledger.history).toBeUndefined();
    await new Fixture(new ManualClock(Date.now()), ledger, {}).spend(1);
    expect(await keysLike("*:journal")).toEqual([]);
  });

  it("ends ten thousand holds at once in steps that each leave others room", async () => {
    const account = redis().accountAt();
    const leases: Lease[] = [];
    for (let round = 0; round < 100; round++) {
      leases.push(...(await Promise.all(Array.from({ length: 100 }, () => account.admit(5)))));
    }
    await account.ledger.renew(leases.map((lease) => ({ lease, observedMicro: 2, leaseMs: 60 * second })));
    account.clock.advance(60 * second);
    await client().config("SET", "slowlog-log-slower-than", "100");
    await client().config("SET", "slowlog-max-len", "100000");
    await client().slowlog("RESET");
    await account.windows();
    await account.admit(1);
    const log = (await client().slowlog("GET", 100_000)) as [number, number, number, string[]][];
    const scripts = log
      .filter(([, , , command]) => /^eval/i.test(command[0] ?? ""))
      .map(([, , microseconds]) => microseconds);
    const worst = Math.max(...scripts) / 1_000;
    console.info(`Redis: 10,000 holds end in ${scripts.length} scripts, the longest ${worst} ms.`);
    expect(scripts.length).toBeGreaterThanOrEqual(20);
    // Ten times what it takes where nothing else runs.
    expect(worst).toBeLessThan(400);
    expect(await account.counts()).toEqual(everywhere(20_000, 1));
  });
});
