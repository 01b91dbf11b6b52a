import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import type { CreditLedger, Lease } from "../../../../src/ledger/credit-ledger.js";
import { day, Fixture, second, start, unique } from "../../../../src/testing/credit-ledger-fixture.js";
import {
  capOf,
  concurrentRate,
  creditsNow,
  isAdmitted,
  requestsRate,
  tokensRate,
  topUp,
} from "../../../../src/testing/credit-limits/limits-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { emptyRedis } from "../empty-redis.js";
import { ledgerAt } from "../redis-test.js";

const most = Number.MAX_SAFE_INTEGER;

describe.runIf(hasRedisServer)("prepaid credits, caps and rates in Redis", () => {
  const redis = emptyRedis();
  const client = () => redis().client;
  const keyOf = async (name: string) => (await client().keys(`*:${name}`))[0] ?? "none";

  /** Calls of four ledgers with connections of their own, all of them at once. */
  async function byFour(call: (ledger: CreditLedger, index: number) => Promise<unknown>, count: number): Promise<void> {
    const clients = Array.from({ length: 4 }, () => new Redis(redis().server.port, "127.0.0.1"));
    const ledgers = clients.map((one) => ledgerAt(new ManualClock(start), one));
    try {
      await Promise.all(Array.from({ length: count }, (_, index) => call(ledgers[index % 4] as CreditLedger, index)));
    } finally {
      for (const one of clients) one.disconnect();
    }
  }

  it("are overspent by less than one request, and all that was charged is in the journal", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 5_000);
    const caps = [capOf(account, "day", 3_000)];
    let [charged, denied] = [0, 0];
    await byFour(async (ledger, index) => {
      const named = index % 2 === 0 ? { caps } : {};
      const result = await ledger.reserve({ ...account.request(100), ...named });
      if (!result.ok) {
        denied++;
        return;
      }
      expect(result.prepaid?.balanceMicro).toBeGreaterThan(-100);
      expect(result.lease.prepaidAt).toBe(start);
      const cost = 1 + (index % 99);
      await ledger.settle(result.lease, { amountMicro: cost });
      charged += cost;
    }, 400);
    const { prepaid, caps: [cap] = [] } = await creditsNow(account, { caps });
    expect(denied).toBeGreaterThan(0);
    expect(charged).toBeLessThan(5_100);
    expect(prepaid).toMatchObject({ balanceMicro: 5_000 - charged, heldMicro: 0 });
    expect(cap?.heldMicro).toBe(0);
    expect(cap?.usedMicro).toBeLessThan(3_100);
    const entries = (await account.ledger.history?.({ account: account.id, limit: 1_000 }))?.entries ?? [];
    expect(entries.reduce((sum, { kind, amountMicro }) => (kind === "charge" ? sum + amountMicro : sum), 0)).toBe(
      charged,
    );
    expect(entries.filter(({ starts }) => Object.keys(starts).length > 0)).toEqual([]);
  });

  it("are exact up to the last integer", async () => {
    const account = redis().accountAt(start, { session: 0 });
    expect(await topUp(account, most - 1)).toMatchObject({ balanceMicro: most - 1 });
    await expect(topUp(account, 2)).rejects.toThrow("too large");
    const cap = capOf(account, "total", most);
    const lease = await account.admit(most - 2, { caps: [cap] });
    expect(await creditsNow(account, { caps: [cap] })).toMatchObject({
      prepaid: { balanceMicro: most - 1, heldMicro: most - 2 },
      caps: [{ heldMicro: most - 2, resetsAt: null }],
    });
    const settled = await account.ledger.settle(lease, { amountMicro: most });
    expect(settled).toMatchObject({ prepaid: { balanceMicro: -1, lots: [] }, caps: [{ usedMicro: most }] });
  });

  it("take no key where an account has none of them", async () => {
    const account = redis().accountAt();
    await account.spend(1);
    await account.admit(2);
    for (const name of ["prepaid", "caps", "rates"]) expect(await keyOf(name)).toBe("none");
    expect(await client().hlen(await keyOf("holds"))).toBe(1);
    const buyer = redis().accountAt(start, { session: 0 });
    await topUp(buyer, 5);
    await buyer.ledger.settle(await buyer.admit(5), { amountMicro: 5 });
    // Whether it has ever had some is shown.
    expect(await client().strlen(await keyOf("prepaid"))).toBe(2 * 8);
  });

  it("last as long as they mean something", async () => {
    const account = redis().accountAt();
    await topUp(account, 5);
    const rates = [requestsRate(1, 60), concurrentRate(3)];
    const lease = await account.admit(1, { caps: [capOf(account, "day", 9)], rates });
    const [ofRates, ofCaps] = [await keyOf("rates"), await keyOf("caps")];
    expect(await client().pttl(await keyOf("prepaid"))).toBe(-1);
    expect(await client().pttl(ofRates)).toBeGreaterThan(899 * second);
    expect(await client().pttl(ofRates)).toBeLessThan(1_000 * second);
    expect(await client().pttl(ofCaps)).toBeGreaterThan(day);
    expect(await client().pttl(ofCaps)).toBeLessThan(2 * day + 61 * second);
    await client().pexpire(ofRates, 60_000);
    await account.ledger.renew([{ lease, observedMicro: 1, leaseMs: 900 * second }]);
    expect(await client().pttl(ofRates)).toBeGreaterThan(899 * second);
    await account.admit(1, { caps: [capOf(account, "total", 9)] });
    expect(await client().pttl(ofCaps)).toBe(-1);
    await account.ledger.settle(lease, { amountMicro: 1 });
    expect(await client().pttl(ofCaps)).toBe(-1);
    expect(await client().hexists(ofRates, "key/concurrent")).toBe(0);
    expect(await client().hexists(await keyOf("holds"), `\u0001${lease.id}`)).toBe(0);
  });

  it("do not stay for keys that are used no more, though others of the account are", async () => {
    const account = redis().accountAt();
    for (let index = 0; index < 1_000; index++) {
      const rates = [{ ...requestsRate(60), id: `key ${index}` }];
      const caps = [capOf(account, "day", 100, `key ${index}`)];
      await account.ledger.settle(await account.admit(1, { rates, caps }), { amountMicro: 1 });
    }
    const [rates, caps] = [await keyOf("rates"), await keyOf("caps")];
    expect([await client().hlen(rates), await client().hlen(caps)]).toEqual([1_001, 1_001]);
    account.clock.advance(3 * day);
    for (let index = 0; index < 60; index++) {
      account.clock.advance(second);
      const named = { rates: [requestsRate(60)], caps: [capOf(account, "day", 100)] };
      await account.ledger.release(await account.admit(1, named));
    }
    for (const key of [rates, caps]) expect(await client().hlen(key)).toBeLessThanOrEqual(33);
  });

  it("are forgotten with their account", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 50);
    await account.admit(5, { caps: [capOf(account, "total", 90)], rates: [tokensRate(100, 10)] });
    // In one script, of which the last operation finds nothing that the first has read.
    const named = { caps: [capOf(account, "total", 90)] };
    const [before, , after] = await Promise.all([
      account.reserve(1, named),
      account.ledger.forget(account.id),
      account.reserve(1, named),
    ]);
    expect([before.ok, after.ok]).toEqual([true, false]);
    expect(after).toMatchObject({ caps: [{ usedMicro: 0, heldMicro: 0 }] });
    for (const name of ["prepaid", "caps", "rates", "holds"]) expect(await keyOf(name)).toBe("none");
    expect((await creditsNow(account)).prepaid).toBeUndefined();
  });

  it("come back of many leases that expire at once", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 10_000);
    const named = { caps: [capOf(account, "total", most)], rates: [concurrentRate(2_000), tokensRate(1e9, 10)] };
    const leases: Lease[] = [];
    for (let index = 0; index < 1_200; index++) leases.push(await account.admit(5, { ...named, leaseMs: second }));
    await account.ledger.renew(leases.map((lease) => ({ lease, observedMicro: 2, leaseMs: second })));
    account.clock.advance(second);
    const expected = {
      prepaid: { balanceMicro: 10_000 - 2_400, heldMicro: 0 },
      caps: [{ usedMicro: 2_400, heldMicro: 0 }],
      rates: [{ remaining: 2_000 }, { remaining: 1e9 }],
    };
    expect(await creditsNow(account, named)).toMatchObject(expected);
    await account.ledger.reset(account.id, ["week"]);
    expect(await creditsNow(account, named)).toMatchObject(expected);
  });

  it("are untouched by a reservation that Redis has no memory for", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 50);
    const named = { caps: [capOf(account, "total", 90)], rates: [tokensRate(100, 10), concurrentRate(2)] };
    await account.admit(5, named);
    const before = await creditsNow(account, named);
    await client().config("SET", "maxmemory", "1");
    await expect(account.reserve(5, named)).rejects.toThrow();
    await client().config("SET", "maxmemory", "0");
    expect(await creditsNow(account, named)).toEqual(before);
  });

  it("are as before for what follows a failed operation in its script", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 50);
    const caps = [capOf(account, "total", 90)];
    const lease = await account.admit(5, { caps });
    const journal = await keyOf("journal");
    await client().del(journal);
    await client().set(journal, "what another program wrote");
    const [failed, next] = await Promise.allSettled([
      account.ledger.settle(lease, { amountMicro: 4 }),
      account.reserve(2, { caps }),
    ]);
    expect(failed.status).toBe("rejected");
    expect(next).toMatchObject({ value: { prepaid: { balanceMicro: 50, heldMicro: 7 }, caps: [{ heldMicro: 7 }] } });
    expect(await creditsNow(account, { caps })).toMatchObject({ prepaid: { heldMicro: 7 }, caps: [{ usedMicro: 0 }] });
  });

  it("are never held beyond the integers", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, most);
    await account.admit(10);
    await expect(account.reserve(most)).rejects.toThrow("too large");
    expect(await creditsNow(account)).toMatchObject({ prepaid: { balanceMicro: most, heldMicro: 10 } });
  });

  it("come back to the lot that expires first where an expired lease has charged too much", async () => {
    const account = redis().accountAt(start, { session: 0 });
    const expiresAt = start + day;
    await topUp(account, 50, { expiresAt });
    const lease = await account.admit(5, { leaseMs: second });
    await account.ledger.renew([{ lease, observedMicro: 5, leaseMs: second }]);
    account.clock.advance(second);
    const late = await account.ledger.settle(lease, { amountMicro: 2 });
    expect(late).toMatchObject({ status: "late", prepaid: { balanceMicro: 48, heldMicro: 0 } });
    expect((await creditsNow(account)).prepaid?.lots).toEqual([expect.objectContaining({ expiresAt })]);
  });

  it("count what a failed operation has held, so that its repetition finds it", async () => {
    const account = redis().accountAt();
    const caps = [capOf(account, "total", 90)];
    await account.admit(1, { caps });
    const leases = await keyOf("leases");
    await client().del(leases);
    await client().set(leases, "what another program wrote");
    const neighbour = new Fixture(account.clock, account.ledger, {});
    const request = { ...account.request(5), caps };
    const [failed, good] = await Promise.allSettled([account.ledger.reserve(request), neighbour.reserve(1)]);
    expect([failed.status, good.status]).toEqual(["rejected", "fulfilled"]);
    expect(await creditsNow(account, { caps })).toMatchObject({ caps: [{ heldMicro: 6 }] });
    await client().del(leases);
    expect(await account.ledger.reserve(request)).toMatchObject({ replayed: true, caps: [{ heldMicro: 6 }] });
  });

  it("answer a top-up that is repeated as it was answered, and refuse another one with its id", async () => {
    const account = redis().accountAt();
    const id = unique("topup");
    await topUp(account, 5, { id });
    expect(await topUp(account, 5, { id })).toMatchObject({ balanceMicro: 5 });
    await expect(topUp(account, 6, { id })).rejects.toThrow("used before");
    await expect(topUp(account, 5, { id, expiresAt: start + day })).rejects.toThrow("used before");
    await expect(topUp(account, 5, { expiresAt: start })).rejects.toThrow("later than now");
    const [key = ""] = await client().keys("*:topup:*");
    expect(await client().pttl(key)).toBeGreaterThan(30 * day);
    expect(isAdmitted(await new Fixture(account.clock, account.ledger, {}).reserve(1))).toBe(true);
  });
});
