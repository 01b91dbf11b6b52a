import { LedgerInputError } from "../../ledger/credit-ledger.js";
import type { RateLimit } from "../../ledger/limits.js";
import { everywhere, hour, minute, type RulesInput, second, start } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { capOf, concurrentRate, creditsNow, deniedAnyhow, requestsRate, tokensRate } from "./limits-fixture.js";

/** What rates admit, take and give back. */
export function describeRates({ describe, it, fixture }: RulesInput): void {
  describe("rates", () => {
    it("admit exactly their requests, and each further one when it has come in", async () => {
      const account = await fixture();
      const rates = [requestsRate(100)];
      const results = await Promise.all(Array.from({ length: 300 }, () => account.reserve(1, { rates })));
      expect(results.filter(({ ok }) => ok)).toHaveLength(100);
      const denial = deniedAnyhow(await account.reserve(1, { rates }));
      expect(denial.blocked).toEqual([]);
      expect(denial.blockedCaps).toBeUndefined();
      expect(denial.blockedRates).toEqual([
        { id: "key/requests", kind: "requests", limit: 100, cause: "used", availableAt: start + 600 },
      ]);
      account.clock.advance(599);
      expect((await account.reserve(1, { rates })).ok).toBe(false);
      account.clock.advance(1);
      expect((await account.reserve(1, { rates })).ok).toBe(true);
      expect((await account.reserve(1, { rates })).ok).toBe(false);
      expect(await account.counts()).toEqual(everywhere(0, 101));
    });

    it("hold a burst, and no more after a pause", async () => {
      const account = await fixture();
      const rates = [requestsRate(60, 3)];
      account.clock.advance(hour);
      for (let request = 0; request < 3; request++) expect((await account.reserve(1, { rates })).ok).toBe(true);
      expect((await account.reserve(1, { rates })).ok).toBe(false);
      expect((await creditsNow(account, { rates })).rates).toEqual([
        { id: "key/requests", kind: "requests", limit: 60, remaining: 0, fullInMs: 3_000 },
      ]);
    });

    it("admit no more where the clocks of processes are apart", async () => {
      const account = await fixture();
      const rates = [requestsRate(30, 100)];
      let admitted = 0;
      // 200 calls in a second, by two processes in turn, of which one is 40 ms ahead. Half a request comes in meanwhile.
      for (let call = 0; call < 200; call++) {
        account.clock.set(start + 5 * call + (call % 2 === 0 ? 40 : 0));
        if ((await account.reserve(1, { rates })).ok) admitted++;
      }
      expect(admitted).toBe(100);
    });

    it("admit a call while any token is left, and take all that it may need", async () => {
      const account = await fixture();
      const rates = [tokensRate(100, 1_024)];
      const lease = await account.admit(1, { rates });
      expect((await creditsNow(account, { rates })).rates?.[0]).toMatchObject({ remaining: 0 });
      // The call holds what is missing: it is over within seconds.
      expect(deniedAnyhow(await account.reserve(1, { rates })).blockedRates).toEqual([
        { id: "key/tokens", kind: "tokens", limit: 100, cause: "held", availableAt: start + 5_000 },
      ]);
      const settled = await account.ledger.settle(lease, { amountMicro: 1, rates: [{ id: "key/tokens", actual: 60 }] });
      expect(settled.rates).toEqual([
        { id: "key/tokens", kind: "tokens", limit: 100, remaining: 40, fullInMs: 36_000 },
      ]);
      expect((await account.reserve(1, { rates })).ok).toBe(true);
    });

    it("take what a call used beyond what it had taken", async () => {
      const account = await fixture();
      const rates = [tokensRate(60, 10)];
      const lease = await account.admit(1, { rates });
      await account.ledger.settle(lease, { amountMicro: 1, rates: [{ id: "key/tokens", actual: 90 }] });
      const { blockedRates } = deniedAnyhow(await account.reserve(1, { rates }));
      // 30 below zero, and a token comes in each second: something is there a part of a token later.
      expect(blockedRates).toEqual([
        { id: "key/tokens", kind: "tokens", limit: 60, cause: "used", availableAt: start + 30_001 },
      ]);
    });

    it("keep what was taken where the settlement does not say", async () => {
      const account = await fixture();
      const rates = [tokensRate(100, 70)];
      await account.ledger.settle(await account.admit(1, { rates }), { amountMicro: 1 });
      expect((await creditsNow(account, { rates })).rates?.[0]).toMatchObject({ remaining: 30 });
    });

    it("get everything back with a release, but what it names", async () => {
      const account = await fixture();
      const rates = [requestsRate(10), tokensRate(100, 70)];
      await account.ledger.release(await account.admit(1, { rates }));
      expect((await creditsNow(account, { rates })).rates).toMatchObject([{ remaining: 10 }, { remaining: 100 }]);
      await account.ledger.release(await account.admit(1, { rates }), [{ id: "key/requests", actual: 1 }]);
      expect((await creditsNow(account, { rates })).rates).toMatchObject([{ remaining: 9 }, { remaining: 100 }]);
    });

    it("count open leases", async () => {
      const account = await fixture();
      const rates = [concurrentRate(2)];
      const [first] = [await account.admit(1, { rates }), await account.admit(1, { rates })];
      expect(deniedAnyhow(await account.reserve(1, { rates })).blockedRates).toEqual([
        { id: "key/concurrent", kind: "concurrent", limit: 2, cause: "held", availableAt: start + 1_000 },
      ]);
      await account.ledger.settle(first, { amountMicro: 1 });
      expect((await creditsNow(account, { rates })).rates?.[0]).toMatchObject({ remaining: 1, fullInMs: 0 });
      expect((await account.reserve(1, { rates })).ok).toBe(true);
      expect((await account.reserve(1, { rates })).ok).toBe(false);
    });

    it("are free again when the holder dies, but for the tokens that it had reported", async () => {
      const account = await fixture();
      const rates = [requestsRate(10, 10), tokensRate(100, 500), concurrentRate(1)];
      const lease = await account.admit(1, { rates, leaseMs: second });
      const uses = [{ id: "key/tokens", actual: 80 }];
      await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: second, rates: uses }]);
      await account.ledger.renew([{ lease, observedMicro: 0, leaseMs: second }]);
      expect((await account.reserve(1, { rates })).ok).toBe(false);
      account.clock.advance(second);
      const { rates: after } = await creditsNow(account, { rates });
      expect(after).toMatchObject([{ remaining: 9 }, { remaining: 21 }, { remaining: 1 }]);
      expect((await account.reserve(1, { rates })).ok).toBe(true);
      // What comes after the expiry changes no bucket.
      const late = await account.ledger.settle(lease, { amountMicro: 1, rates: [{ id: "key/tokens", actual: 0 }] });
      expect(late.status).toBe("late");
      expect(late.rates?.[1]).toMatchObject({ remaining: 0 });
    });

    it("lose nothing to a call that ends when they are full again", async () => {
      const account = await fixture();
      const rates = [requestsRate(60, 1)];
      const lease = await account.admit(1, { rates });
      account.clock.advance(second);
      const uses = [{ id: "key/requests", actual: 3 }];
      const settled = await account.ledger.settle(lease, { amountMicro: 1, rates: uses });
      expect(settled.rates).toMatchObject([{ remaining: 1 }]);
    });

    it("deny without taking: a client that hammers recovers", async () => {
      const account = await fixture();
      const rates = [requestsRate(60, 1)];
      await account.admit(1, { rates });
      for (let denial = 0; denial < 10; denial++) {
        account.clock.advance(99);
        expect((await account.reserve(1, { rates })).ok).toBe(false);
      }
      account.clock.advance(10);
      expect((await account.reserve(1, { rates })).ok).toBe(true);
    });

    it("take nothing when another limit denies", async () => {
      const account = await fixture({ session: 10 });
      const rates = [requestsRate(5), { ...requestsRate(5, 1), id: "model/requests" }];
      await account.admit(1, { rates });
      expect((await account.reserve(1, { rates })).ok).toBe(false);
      expect((await creditsNow(account, { rates })).rates).toMatchObject([{ remaining: 4 }, { remaining: 0 }]);
      account.clock.advance(minute);
      const caps = [capOf(account, "total", 0)];
      expect((await account.reserve(1, { rates, caps })).ok).toBe(false);
      await account.ledger.settle(await account.admit(1), { amountMicro: 10 });
      const denial = deniedAnyhow(await account.reserve(1, { rates, caps }));
      expect(denial.blocked).toHaveLength(1);
      expect(denial.blockedCaps).toHaveLength(1);
      expect((await creditsNow(account, { rates })).rates).toMatchObject([{ remaining: 5 }, { remaining: 1 }]);
    });

    it("bind calls that cost nothing", async () => {
      const account = await fixture({ session: 10 });
      const rates = [requestsRate(2)];
      for (let request = 0; request < 2; request++) await account.admit(0, { rates });
      expect((await account.reserve(0, { rates })).ok).toBe(false);
      expect((await account.windows()).session.startsAt).toBeNull();
    });

    it("never admit by a limit of 0", async () => {
      const account = await fixture();
      const kinds: RateLimit[] = [requestsRate(0), tokensRate(0, 1), concurrentRate(0)];
      for (const rate of kinds) {
        const { blockedRates } = deniedAnyhow(await account.reserve(1, { rates: [rate] }));
        const cause = rate.kind === "concurrent" ? "held" : "used";
        expect(blockedRates).toEqual([{ id: rate.id, kind: rate.kind, limit: 0, cause, availableAt: null }]);
      }
    });

    it("begin with the available-last", async () => {
      const account = await fixture();
      const of = (id: string, limit: number): RateLimit => ({ ...requestsRate(limit, Math.min(limit, 1)), id });
      const rates = [of("fast", 60), of("slow", 6), of("never", 0), of("slower", 1)];
      await account.admit(1, { rates: rates.filter(({ limit }) => limit > 0) });
      const { blockedRates } = deniedAnyhow(await account.reserve(1, { rates }));
      expect(blockedRates?.map(({ id }) => id)).toEqual(["never", "slower", "slow", "fast"]);
    });

    it("are cut to a lower limit, and not filled by a higher one unless they are full", async () => {
      const account = await fixture();
      await account.admit(1, { rates: [requestsRate(10)] });
      await account.admit(1, { rates: [requestsRate(4)] });
      const left = async (limit: number) => (await creditsNow(account, { rates: [requestsRate(limit)] })).rates?.[0];
      expect(await left(4)).toMatchObject({ remaining: 3 });
      expect(await left(100)).toMatchObject({ remaining: 3 });
      account.clock.advance(minute);
      await account.admit(1, { rates: [requestsRate(100)] });
      expect(await left(100)).toMatchObject({ remaining: 99 });
    });

    it("are not filled by a clock that steps back, and go on from there", async () => {
      const account = await fixture();
      const rates = [requestsRate(60, 2)];
      for (let request = 0; request < 2; request++) await account.admit(1, { rates });
      account.clock.advance(-hour);
      expect((await account.reserve(1, { rates })).ok).toBe(false);
    });

    it("are separate for each account and id, and forgotten with their account", async () => {
      const account = await fixture();
      const rates = [requestsRate(1)];
      await account.admit(1, { rates });
      expect((await account.reserve(1, { rates })).ok).toBe(false);
      expect((await account.reserve(1, { rates: [{ ...requestsRate(1), id: "other" }] })).ok).toBe(true);
      await account.ledger.forget(account.id);
      expect((await account.reserve(1, { rates })).ok).toBe(true);
    });

    it("refuse what is no rate", async () => {
      const account = await fixture();
      for (const wrong of [-1, 0.5, Number.NaN, 1e9 + 1]) {
        await expect(account.reserve(1, { rates: [requestsRate(wrong)] })).rejects.toBeInstanceOf(LedgerInputError);
        await expect(account.reserve(1, { rates: [tokensRate(1, wrong)] })).rejects.toBeInstanceOf(LedgerInputError);
      }
      const twice = [requestsRate(1), requestsRate(1)];
      await expect(account.reserve(1, { rates: twice })).rejects.toBeInstanceOf(LedgerInputError);
    });

    it("get back the tokens of a lease that expires, and the request not", async () => {
      const account = await fixture();
      const rates = [tokensRate(1, 10, 100), requestsRate(1, 5)];
      await account.admit(1, { rates, leaseMs: 1_000 });
      const left = async () => (await creditsNow(account, { rates })).rates?.map(({ remaining }) => remaining);
      expect(await left()).toEqual([90, 4]);
      account.clock.advance(1_000);
      expect(await left()).toEqual([100, 4]);
      await account.ledger.reset(account.id, ["week"]);
      expect(await left()).toEqual([100, 4]);
    });

    it("hold no more than their burst, however long the pause", async () => {
      const account = await fixture();
      const rates = [tokensRate(60, 5, 10)];
      const [lease, unused] = [
        await account.admit(1, { rates, leaseMs: 15 * minute }),
        await account.admit(1, { rates, leaseMs: 15 * minute }),
      ];
      account.clock.advance(10 * minute);
      expect((await creditsNow(account, { rates })).rates).toMatchObject([{ remaining: 10 }]);
      expect((await account.ledger.release(unused)).rates).toMatchObject([{ remaining: 10 }]);
      const { rates: after } = await account.ledger.settle(lease, {
        ...{ amountMicro: 1, rates: [{ id: "key/tokens", actual: 8 }] },
      });
      expect(after).toMatchObject([{ remaining: 7 }]);
      const most = [requestsRate(1e9)];
      await account.admit(1, { rates: most });
      account.clock.advance(400 * 24 * hour);
      expect((await account.reserve(1, { rates: most })).ok).toBe(true);
    });
  });
}
