import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../../src/ledger/calendar.js";
import { LedgerInputError, LedgerUnavailableError, type ReserveResult } from "../../../../src/ledger/credit-ledger.js";
import type { GuardOptions } from "../../../../src/ledger/guard/guarded-credit-ledger.js";
import type { LedgerEvent } from "../../../../src/ledger/guard/ledger-event.js";
import type { RateLimit } from "../../../../src/ledger/limits.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import {
  admitted,
  everywhere,
  Fixture,
  type FixturePlan,
  start,
} from "../../../../src/testing/credit-ledger-fixture.js";
import { requestsRate } from "../../../../src/testing/credit-limits/limits-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { faultyLedger } from "../../../support/guard/faulty-ledger.js";
import { guarded } from "../../../support/guard/guarded.js";

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The clock of fixtures, moved by the fake timers. */
class FakedClock extends ManualClock {
  override now(): number {
    return systemClock.now();
  }
}

function setUp(options: Partial<GuardOptions> = {}, plan: FixturePlan = {}) {
  const store = memoryCreditLedger();
  const faulty = faultyLedger(store);
  const { guard, events, types } = guarded(faulty, options);
  const account = new Fixture(new FakedClock(start), guard, plan);
  /** Past the guard. */
  const counts = async () => {
    const { session, week, month } = (await store.balance(account.id, account.limits)).windows;
    expect([week.usedMicro, month.usedMicro]).toEqual([session.usedMicro, session.usedMicro]);
    return [session.usedMicro, session.heldMicro];
  };
  return { store, faulty, guard, events, types, account, counts };
}

/** What comes of it within the time. */
async function within<Result>(ms: number, promise: Promise<Result>): Promise<Result | Error> {
  const settled = promise.catch((error: unknown) => error as Error);
  await vi.advanceTimersByTimeAsync(ms);
  return await Promise.race([settled, Promise.resolve(new Error("still waiting"))]);
}

const ofType = <Type extends LedgerEvent["type"]>(events: readonly LedgerEvent[], type: Type) =>
  events.filter((event): event is Extract<LedgerEvent, { type: Type }> => event.type === type);

describe("a reservation", () => {
  it("that the store does not answer is given up in time, and its hold is given back should it come", async () => {
    const { faulty, account, counts } = setUp();
    faulty.fates = [1_000];
    const result = await within(300, account.reserve(10));
    expect(result).toBeInstanceOf(LedgerUnavailableError);
    expect(await counts()).toEqual([0, 0]);
    await vi.advanceTimersByTimeAsync(700);
    expect(await counts()).toEqual([0, 10]);
    await vi.advanceTimersByTimeAsync(300);
    expect(await counts()).toEqual([0, 0]);
  });

  it("whose repetition comes too late is given back, though the hold was the first one's", async () => {
    const { faulty, account, counts, types } = setUp();
    faulty.fates = ["lost", 1_000];
    expect(await within(300, account.reserve(10))).toBeInstanceOf(LedgerUnavailableError);
    expect(await counts()).toEqual([0, 10]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await counts()).toEqual([0, 0]);
    expect(faulty.arrived).toEqual(["reserve", "reserve", "release"]);
    expect(types()).toContain("settle_delivered");
  });

  it("that comes too late is not given back where its call is insured, before its end or after it", async () => {
    for (const settlesAfterMs of [100, 2_000]) {
      const { faulty, account, guard, counts } = setUp({ insureMicro: 100 });
      faulty.fates = ["lost", 1_000];
      const result = await within(300, account.reserve(10));
      if (result instanceof Error || !result.ok) throw new Error("It was let in.");
      await vi.advanceTimersByTimeAsync(settlesAfterMs);
      await guard.settle(result.lease, { amountMicro: 4 });
      await vi.advanceTimersByTimeAsync(6_000);
      expect(await counts()).toEqual([4, 0]);
    }
  });

  it("that comes too late for an insured call that has ended does not undo its charge", async () => {
    const { faulty, account, guard, counts } = setUp({ insureMicro: 100 });
    faulty.fates = [1_000];
    const result = await within(300, account.reserve(10));
    if (result instanceof Error || !result.ok) throw new Error("It was let in.");
    faulty.otherwise = "refused";
    await guard.settle(result.lease, { amountMicro: 4 });
    await vi.advanceTimersByTimeAsync(2_000);
    // A charge that was insured takes two operations, so that the end of a hold would overtake it.
    faulty.otherwise = 5;
    expect(await within(100, account.reserve(0))).toMatchObject({ ok: true });
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await counts()).toEqual([4, 0]);
  });

  it("that fails is sent again with the same id within its time", async () => {
    const { faulty, account, counts, types } = setUp();
    faulty.fates = ["refused", "lost"];
    expect(await within(200, account.reserve(10))).toMatchObject({ ok: true, replayed: true });
    expect(faulty.arrived).toEqual(["reserve", "reserve", "reserve"]);
    expect(await counts()).toEqual([0, 10]);
    expect(types()).toEqual(["unavailable", "available"]);
  });

  it("that fails is not sent again when its caller's time is over", async () => {
    // Again after 10 to 20 ms, and 20 to 40 ms later, when it is too late.
    const { faulty, account } = setUp({ reserveTimeoutMs: 25 });
    faulty.otherwise = "refused";
    expect(await within(29, account.reserve(10))).toBeInstanceOf(LedgerUnavailableError);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(faulty.arrived).toEqual(["reserve", "reserve"]);
  });

  it("that the ledger refuses is not sent again", async () => {
    const { faulty, account, types } = setUp();
    await expect(account.reserve(-1)).rejects.toBeInstanceOf(LedgerInputError);
    expect(faulty.arrived).toEqual(["reserve"]);
    expect(types()).toEqual([]);
  });

  it("waits longer for a store that answers others", async () => {
    const { faulty, account } = setUp();
    faulty.fates = [900, ...Array(9).fill(100)];
    const slow = account.reserve(10);
    for (let count = 0; count < 9; count++) expect(await within(100, account.reserve(1))).toMatchObject({ ok: true });
    await expect(slow).resolves.toMatchObject({ ok: true });
  });

  it("waits no longer than a settlement for a store that answers others but not it", async () => {
    const { faulty, account } = setUp();
    faulty.fates = ["hung", ...Array(30).fill(100)];
    let outcome: unknown;
    void account.reserve(10).catch((error) => {
      outcome = error;
    });
    for (let count = 0; count < 19; count++) await within(100, account.reserve(1));
    expect(outcome).toBeUndefined();
    for (let count = 0; count < 3; count++) await within(100, account.reserve(1));
    expect(outcome).toBeInstanceOf(LedgerUnavailableError);
  });

  it("finds out for all others whether the store is back", async () => {
    const { faulty, account } = setUp();
    faulty.otherwise = "hung";
    const failed = Array.from({ length: 5 }, () => within(300, account.reserve(1)));
    await Promise.all(failed);
    faulty.arrived.length = 0;
    // Now it is known to be away: of a hundred calls one arrives.
    const more = Array.from({ length: 100 }, () => account.reserve(1).catch((error: unknown) => error));
    await vi.advanceTimersByTimeAsync(300);
    for (const outcome of await Promise.all(more)) expect(outcome).toBeInstanceOf(LedgerUnavailableError);
    expect(faulty.arrived).toEqual(["reserve"]);
    // And when it is back, all of them do, and none is refused.
    faulty.otherwise = "ok";
    const again = Array.from({ length: 100 }, () => account.reserve(1));
    for (const result of await Promise.all(again)) expect(result.ok).toBe(true);
  });
});

describe("a settlement", () => {
  it.each(["refused", "lost"] as const)("that is %s is kept, and sent until it gets through", async (fate) => {
    const { faulty, account, events, types, counts } = setUp();
    const lease = await account.admit(10);
    faulty.otherwise = fate;
    await expect(account.ledger.settle(lease, { amountMicro: 7 })).rejects.toBeInstanceOf(LedgerUnavailableError);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(faulty.arrived.length).toBeGreaterThan(5);
    expect(faulty.arrived.length).toBeLessThan(15);
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await counts()).toEqual([7, 0]);
    expect(types().filter((type) => type !== "replayed")).toEqual([
      ...["unavailable", "settle_kept"],
      ...["available", "settle_delivered"],
    ]);
    expect(ofType(events, "settle_delivered")).toMatchObject([
      { status: fate === "lost" ? "duplicate" : "settled", requestId: lease.id, chargedMicro: 7, kept: 0 },
    ]);
  });

  it("that was kept for long is sent as soon as anything else succeeds", async () => {
    const { faulty, account, counts } = setUp();
    const leases = await Promise.all(Array.from({ length: 20 }, () => account.admit(1)));
    faulty.otherwise = "refused";
    for (const lease of leases) void account.ledger.settle(lease, { amountMicro: 1 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(50_000);
    faulty.otherwise = "ok";
    await account.reserve(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await counts()).toEqual([20, 1]);
  });

  it("that hangs keeps its caller no longer than a reservation", async () => {
    const { faulty, account, counts } = setUp();
    const lease = await account.admit(10);
    faulty.fates = ["hung"];
    expect(await within(300, account.ledger.settle(lease, { amountMicro: 7 }))).toBeInstanceOf(LedgerUnavailableError);
    expect(await counts()).toEqual([0, 10]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await counts()).toEqual([7, 0]);
  });

  it("that is slow goes on without its caller, and is sent once", async () => {
    const { faulty, account, counts, types } = setUp();
    const lease = await account.admit(10);
    faulty.fates = [1_000];
    expect(await within(300, account.ledger.settle(lease, { amountMicro: 7 }))).toBeInstanceOf(LedgerUnavailableError);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await counts()).toEqual([7, 0]);
    expect(faulty.arrived).toEqual(["reserve", "settle"]);
    expect(types()).toEqual([]);
  });

  it("says when it was first sent if it may have arrived, and not if it cannot have", async () => {
    const { faulty, account, store } = setUp();
    const settle = vi.spyOn(store, "settle");
    const [one, other] = [await account.admit(10), await account.admit(10)];
    faulty.otherwise = "mute";
    expect(await within(2_250, account.ledger.settle(one, { amountMicro: 7 }))).toBeInstanceOf(Error);
    // The store is known to be away: this one is kept without being sent.
    await expect(account.ledger.settle(other, { amountMicro: 3 })).rejects.toBeInstanceOf(LedgerUnavailableError);
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(6_000);
    const sent = settle.mock.calls.map(([{ id }, { mayBeDuplicateSince }]) => [id, mayBeDuplicateSince]);
    expect(sent).toEqual([
      [one.id, undefined],
      [one.id, start],
      [other.id, undefined],
    ]);
  });

  it("is given up, the oldest first, when too many are kept", async () => {
    const { faulty, account, events, counts } = setUp({ maxKeptSettlements: 100 });
    const leases = await Promise.all(Array.from({ length: 130 }, () => account.admit(1)));
    faulty.otherwise = "refused";
    const outcomes = leases.map((lease) => account.ledger.settle(lease, { amountMicro: 1 }).catch((error) => error));
    await Promise.all(outcomes);
    const lost = ofType(events, "settle_lost");
    expect(lost.map(({ lease }) => lease.id)).toEqual(leases.slice(0, 30).map(({ id }) => id));
    expect(lost[0]).toMatchObject({ reason: "overflow", chargedMicro: 1, settlement: { amountMicro: 1 } });
    expect(Math.max(...ofType(events, "settle_kept").map(({ kept }) => kept))).toBe(100);
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(5_000);
    // What was given up can still be settled by hand.
    expect(await counts()).toEqual([100, 30]);
    for (const { lease, settlement = { amountMicro: 0 } } of lost) await account.ledger.settle(lease, settlement);
    expect(await counts()).toEqual([130, 0]);
  });

  it("that the ledger refuses is neither kept nor lost silently", async () => {
    const { account, events } = setUp();
    const lease = await account.admit(10);
    await expect(account.ledger.settle(lease, { amountMicro: -1 })).rejects.toBeInstanceOf(LedgerInputError);
    expect(ofType(events, "settle_lost")).toMatchObject([{ reason: "refused", requestId: lease.id }]);
  });

  it("that always fails does not keep others back", async () => {
    const { faulty, account, counts, store } = setUp();
    const settle = store.settle;
    const bad = await Promise.all(Array.from({ length: 40 }, () => account.admit(1)));
    const good = await Promise.all(Array.from({ length: 40 }, () => account.admit(1)));
    const ids = new Set(bad.map(({ id }) => id));
    let isBroken = true;
    store.settle = async (lease, settlement) => {
      if (isBroken && ids.has(lease.id)) throw new Error("This account's shard is away.");
      return settle(lease, settlement);
    };
    faulty.otherwise = "refused";
    for (const lease of [...bad, ...good]) void account.ledger.settle(lease, { amountMicro: 1 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(1);
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await counts()).toEqual([40, 40]);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await counts()).toEqual([80, 0]);
  });
});

describe("close", () => {
  it("waits for what is kept", async () => {
    const { faulty, account, guard, counts } = setUp();
    const leases = await Promise.all(Array.from({ length: 50 }, () => account.admit(1)));
    faulty.otherwise = "refused";
    for (const lease of leases) void account.ledger.settle(lease, { amountMicro: 1 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(10_000);
    const closed = guard.close();
    await vi.advanceTimersByTimeAsync(2_000);
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(300);
    await closed;
    expect(await counts()).toEqual([50, 0]);
    await vi.advanceTimersByTimeAsync(300);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits for a settlement that is slow", async () => {
    const { faulty, account, guard, counts } = setUp();
    const lease = await account.admit(1);
    faulty.fates = [1_500];
    void account.ledger.settle(lease, { amountMicro: 1 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(500);
    let isClosed = false;
    void guard.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(900);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(isClosed).toBe(true);
    expect(await counts()).toEqual([1, 0]);
  });

  it("waits for a reservation that nobody waits for any more, and gives its hold back", async () => {
    const { faulty, account, guard, counts } = setUp();
    faulty.fates = [1_500];
    expect(await within(300, account.reserve(10))).toBeInstanceOf(LedgerUnavailableError);
    const closed = guard.close();
    await vi.advanceTimersByTimeAsync(1_300);
    await closed;
    expect(await counts()).toEqual([0, 0]);
    expect(faulty.arrived).toEqual(["reserve", "release"]);
    await vi.advanceTimersByTimeAsync(300);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([undefined, null, 5, { ok: true }, { ok: true, lease: {} }])(
    "is not kept by a reservation that brings %j when it is too late",
    async (late) => {
      const store = memoryCreditLedger();
      const reserve = () => new Promise<never>((resolve) => setTimeout(() => resolve(late as never), 1_000));
      const { guard, types } = guarded({ ...store, reserve });
      const account = new Fixture(new FakedClock(start), guard, {});
      expect(await within(300, account.reserve(10))).toBeInstanceOf(LedgerUnavailableError);
      const closed = guard.close();
      await vi.advanceTimersByTimeAsync(1_000);
      await closed;
      expect(types()).not.toContain("settle_lost");
    },
  );

  it("does not wait for ever for a reservation", async () => {
    const { faulty, account, guard } = setUp();
    faulty.fates = ["hung"];
    expect(await within(300, account.reserve(10))).toBeInstanceOf(LedgerUnavailableError);
    let isClosed = false;
    void guard.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(4_900);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(isClosed).toBe(true);
  });

  it("does not wait for ever, and tells what is lost", async () => {
    const { faulty, account, guard, events } = setUp();
    const lease = await account.admit(1);
    faulty.otherwise = "hung";
    void account.ledger.settle(lease, { amountMicro: 1 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(3_000);
    let isClosed = false;
    void guard.close().then(() => {
      isClosed = true;
    });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(isClosed).toBe(true);
    expect(ofType(events, "settle_lost")).toMatchObject([{ reason: "closed", lease: { id: lease.id } }]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a settlement that is lost", () => {
  it("is told once, though the ledger refuses it after all when the guard is closed", async () => {
    const { faulty, account, guard, events } = setUp();
    const lease = await account.admit(1);
    faulty.fates = ["hung", "hung", 1_500];
    void guard.settle(lease, { amountMicro: -1 }).catch(() => {});
    const closed = guard.close();
    await vi.advanceTimersByTimeAsync(5_100);
    await closed;
    expect(faulty.arrived.filter((operation) => operation === "settle")).toHaveLength(3);
    expect(ofType(events, "settle_lost")).toMatchObject([{ reason: "closed" }]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ofType(events, "settle_lost")).toHaveLength(1);
    expect(ofType(events, "settle_kept")).toHaveLength(1);
  });

  it("is told once for each that is sent again by hand", async () => {
    const { account, guard, events } = setUp();
    const lease = await account.admit(1);
    for (let count = 1; count <= 2; count++) {
      await expect(guard.settle(lease, { amountMicro: -1 })).rejects.toBeInstanceOf(LedgerInputError);
      expect(ofType(events, "settle_lost")).toHaveLength(count);
    }
  });
});

describe("the release of an insured call", () => {
  it("that the store has admitted after all says what it used of its rates", async () => {
    const { faulty, account, guard, store } = setUp({ insureMicro: null });
    const rates = [requestsRate(1)];
    faulty.fates = [1_000];
    const reserved = guard.reserve({ ...account.request(5), rates });
    const { lease } = admitted((await within(300, reserved)) as ReserveResult);
    await vi.advanceTimersByTimeAsync(1_000);
    await account.spend(1);
    await guard.release(lease, [{ id: "key/requests", actual: 1 }]);
    await vi.advanceTimersByTimeAsync(6_000);
    const { windows, rates: left } = await store.balance(account.id, account.limits, { rates });
    expect([windows.session.heldMicro, left?.[0]?.remaining]).toEqual([0, 0]);
  });
});

describe("a used-up stock", () => {
  it("is refused without asking the store, for a moment, and with the right time", async () => {
    const { faulty, account, types } = setUp({}, { session: 10 });
    await account.spend(10);
    const first = await account.reserve(1);
    expect(first.ok).toBe(false);
    faulty.arrived.length = 0;
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await account.reserve(1)).toEqual({ ...first, now: first.now + 1_500 });
    expect(faulty.arrived).toEqual([]);
    expect(types()).toEqual(["denied_again"]);
    await vi.advanceTimersByTimeAsync(500);
    await account.reserve(1);
    expect(faulty.arrived).toEqual(["reserve"]);
  });

  it("shows the rates that a reservation names, as they fill", async () => {
    const { faulty, account, store, guard } = setUp({}, { session: 10 });
    const tokens = { id: "plan/tokens", kind: "tokens", take: 35, limit: 70, burst: 70 } as const;
    const ofKey = { id: "key/1/requests", kind: "requests", take: 1, limit: 6, burst: 6 } as const;
    const reserve = async (...rates: RateLimit[]) => (await guard.reserve({ ...account.request(1), rates })).rates;
    await reserve(tokens);
    await account.spend(10);
    const first = await reserve(tokens);
    expect(first).toMatchObject([{ remaining: 35, fullInMs: 30_000 }]);
    faulty.arrived.length = 0;
    expect(await reserve(tokens)).toEqual(first);
    await vi.advanceTimersByTimeAsync(1_000);
    const later = await reserve(tokens);
    expect(faulty.arrived).toEqual([]);
    expect(later).toEqual((await store.balance(account.id, account.limits, { rates: [tokens] })).rates);
    expect(later).toMatchObject([{ remaining: 36, fullInMs: 29_000 }]);
    expect(await reserve(tokens, ofKey)).toMatchObject([{ remaining: 36 }, { remaining: 6 }]);
    expect(faulty.arrived).toEqual(["reserve"]);
  });

  it("shows no rates to a reservation that names none", async () => {
    const { faulty, account, guard } = setUp({}, { session: 10 });
    await account.spend(10);
    await guard.reserve({ ...account.request(1), rates: [requestsRate(6)] });
    faulty.arrived.length = 0;
    expect(await account.reserve(1)).not.toHaveProperty("rates");
    expect(faulty.arrived).toEqual([]);
  });

  it("is there again when another process is heard to have changed the account", async () => {
    const { faulty, account, guard } = setUp({}, { session: 10 });
    await account.spend(10);
    await account.reserve(1);
    faulty.arrived.length = 0;
    guard.changed("another account");
    await account.reserve(1);
    expect(faulty.arrived).toEqual([]);
    guard.changed(account.id);
    await account.reserve(1);
    expect(faulty.arrived).toEqual(["reserve"]);
  });

  it("is not remembered by who could not hear of its end, nor is that asked where nothing is remembered", async () => {
    let hears = false;
    const asked: boolean[] = [];
    const mayRemember = () => {
      asked.push(hears);
      return hears;
    };
    const { faulty, account } = setUp({ mayRemember }, { session: 10 });
    await account.spend(10);
    await account.reserve(1);
    hears = true;
    await account.reserve(1);
    faulty.arrived.length = 0;
    await account.reserve(1);
    expect([asked, faulty.arrived]).toEqual([[false, false, true], []]);
    const forgetful = setUp({ mayRemember, denialCacheMs: 0 }, { session: 10 });
    await forgetful.account.spend(10);
    await forgetful.account.reserve(1);
    expect(asked).toHaveLength(3);
  });

  it("is there again at its reset", async () => {
    const { account } = setUp({}, { session: 10 });
    await account.spend(10);
    await vi.advanceTimersByTimeAsync(5 * 3_600_000 - 500);
    expect((await account.reserve(1)).ok).toBe(false);
    await vi.advanceTimersByTimeAsync(499);
    expect((await account.reserve(1)).ok).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await account.reserve(1)).ok).toBe(true);
  });

  it("is not remembered when requests in flight hold it", async () => {
    const { faulty, account } = setUp({}, { session: 10 });
    await account.admit(10);
    expect((await account.reserve(1)).ok).toBe(false);
    faulty.arrived.length = 0;
    expect((await account.reserve(1)).ok).toBe(false);
    expect(faulty.arrived).toEqual(["reserve"]);
  });

  it("is not remembered when requests in flight hold the prepaid credits that would pay", async () => {
    const { faulty, account, guard } = setUp({}, { session: 0 });
    await guard.topUp?.({ id: "t", account: account.id, amountMicro: 10 });
    await account.admit(10);
    faulty.arrived.length = 0;
    for (let time = 0; time < 2; time++) expect((await account.reserve(1)).ok).toBe(false);
    expect(faulty.arrived).toEqual(["reserve", "reserve"]);
  });

  it("is there again after a grant, a reset, or with another plan", async () => {
    const { account, guard } = setUp({}, { session: 10 });
    const deny = async () => expect((await account.reserve(1)).ok).toBe(false);
    const admit = async () => expect((await account.reserve(1)).ok).toBe(true);
    const { id: accountId } = account;
    await account.spend(10);
    await deny();
    await guard.grant({ id: "g", account: accountId, window: "session", amountMicro: 1, limits: account.limits });
    await account.spend(1);
    await deny();
    await guard.reset(accountId, ["session"]);
    await account.spend(12);
    await deny();
    account.plan = { session: 20 };
    await admit();
  });

  it("is not remembered when a grant is on its way meanwhile", async () => {
    const { faulty, account, guard } = setUp({}, { session: 10 });
    await account.spend(10);
    const { id: accountId, limits } = account;
    // The denial is made before the grant, and arrives after it.
    faulty.fates = ["ok"];
    const reserve = faulty.reserve;
    faulty.reserve = async (request) => {
      const result = await reserve(request);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return result;
    };
    const denied = account.reserve(1);
    await vi.advanceTimersByTimeAsync(10);
    await guard.grant({ id: "g", account: accountId, window: "session", amountMicro: 1, limits });
    expect(await within(100, denied)).toMatchObject({ ok: false });
    expect(await within(100, account.reserve(1))).toMatchObject({ ok: true });
  });
});

describe("a store that has failed over", () => {
  /** Settles one call a second, and returns the store as it was before the last of them. */
  async function failOver(lostFromIndex: number) {
    const test = setUp();
    const { account, faulty } = test;
    const replica = memoryCreditLedger();
    const leases = await Promise.all(Array.from({ length: 10 }, () => account.admit(100)));
    for (const [index, lease] of leases.entries()) {
      await account.ledger.settle(lease, { amountMicro: index + 1 });
      if (index < lostFromIndex) await replica.settle(lease, { amountMicro: index + 1 });
      await vi.advanceTimersByTimeAsync(1_000);
    }
    faulty.replaceBy(replica);
    const used = async () => (await replica.balance(account.id, account.limits)).windows.session.usedMicro;
    return { ...test, replica, used };
  }

  it("gets what it has lost once more, after an outage", async () => {
    const { account, faulty, used, events } = await failOver(4);
    faulty.fates = ["refused", "refused", "refused"];
    expect(await within(200, account.reserve(1))).toBeInstanceOf(LedgerUnavailableError);
    expect(await used()).toBe(1 + 2 + 3 + 4);
    await account.reserve(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await used()).toBe(55);
    expect(ofType(events, "replayed")).toMatchObject([{ statuses: { duplicate: 4, recovered: 6 }, failed: 0 }]);
  });

  it("gets it when its connection is there again, though nothing failed", async () => {
    const { faulty, used, guard } = await failOver(0);
    faulty.reconnect();
    await vi.advanceTimersByTimeAsync(1);
    expect(await used()).toBe(55);
    await guard.close();
    expect(faulty.listeners.size).toBe(0);
  });

  it("gets the rest when it goes away meanwhile, and no more often than needed", async () => {
    const { account, faulty, used, events } = await failOver(0);
    faulty.reconnect();
    faulty.otherwise = "refused";
    await vi.advanceTimersByTimeAsync(1);
    faulty.otherwise = "ok";
    for (let count = 0; count < 20; count++) {
      await account.reserve(1);
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(await used()).toBe(55);
    expect(ofType(events, "replayed").length).toBeLessThanOrEqual(2);
  });

  it("gets what failed once while the others got through", async () => {
    const { account, faulty, used } = await failOver(0);
    faulty.reconnect();
    faulty.fates = ["ok", "refused"];
    await vi.advanceTimersByTimeAsync(1);
    expect(await used()).toBeLessThan(55);
    for (let count = 0; count < 20; count++) {
      await account.reserve(1);
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(await used()).toBe(55);
  });

  it("gets only the last seconds", async () => {
    const { faulty, used, types } = await failOver(0);
    await vi.advanceTimersByTimeAsync(10_500);
    faulty.reconnect();
    await vi.advanceTimersByTimeAsync(1);
    // The settlements were 11.5 to 20.5 s ago.
    expect(await used()).toBe(7 + 8 + 9 + 10);
    expect(types()).toEqual(["replayed"]);
  });
});

describe("while the store is away", () => {
  const away = { insureMicro: 100 };

  it("insured calls are let in up to the sum, and charged when it is back", async () => {
    const { faulty, account, guard, counts, types } = setUp(away, { session: 1_000 });
    await account.spend(5);
    faulty.otherwise = "refused";
    const first = await within(200, account.reserve(60));
    expect(first).toMatchObject({ ok: true, windows: { session: { limitMicro: null } } });
    const second = await account.admit(60);
    await expect(account.reserve(1)).rejects.toBeInstanceOf(LedgerUnavailableError);
    // Another account has an insurance of its own.
    const other = new Fixture(account.clock, guard, {});
    const third = await other.admit(60);
    expect(await guard.settle(second, { amountMicro: 50 })).toMatchObject({ status: "settled" });
    await guard.release(third);
    if (first instanceof Error || !first.ok) throw new Error("It was let in.");
    expect(await guard.renew([{ lease: first.lease, observedMicro: 1, leaseMs: 60_000 }])).toEqual(["renewed"]);
    expect(await counts()).toEqual([5, 0]);

    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(6_000);
    // In the session that was open all along.
    expect(await counts()).toEqual([55, 0]);
    await guard.settle(first.lease, { amountMicro: 10 });
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await counts()).toEqual([65, 0]);
    expect(types().filter((type) => type === "insured")).toHaveLength(3);
  });

  it.each([
    ["whose plan includes none", 0, 30, 70, 0],
    ["whose window is used up", 5, 30, 70, 5],
    ["whose window has some left, which pays first", 6, 30, 71, 6],
    ["which it overdraws", 0, 130, -30, 0],
  ])("prepaid credits pay for insured calls of an account %s", async (_, session, cost, balanceMicro, used) => {
    const { faulty, account, guard } = setUp(away, { session });
    await faulty.topUp?.({ id: "t", account: account.id, amountMicro: 100 });
    if (session > 0) await account.spend(5);
    faulty.otherwise = "refused";
    const result = await within(200, account.reserve(60));
    if (result instanceof Error || !result.ok) throw new Error("It was let in.");
    await guard.settle(result.lease, { amountMicro: cost });
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(6_000);
    const { windows, prepaid } = await faulty.balance(account.id, account.limits);
    expect([prepaid?.balanceMicro, windows.session.usedMicro]).toEqual([balanceMicro, used]);
  });

  it("an insured call whose hold arrived after all is charged once", async () => {
    const { faulty, account, guard, counts } = setUp(away);
    faulty.fates = [1_000];
    const result = await within(300, account.reserve(10));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await counts()).toEqual([0, 10]);
    if (result instanceof Error || !result.ok) throw new Error("It was let in.");
    await guard.settle(result.lease, { amountMicro: 4 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await counts()).toEqual([4, 0]);
  });

  it("each outage has its own insurance", async () => {
    const { faulty, account } = setUp(away);
    for (let outage = 0; outage < 3; outage++) {
      faulty.otherwise = "refused";
      expect(await within(200, account.reserve(100))).toMatchObject({ ok: true });
      expect(await within(200, account.reserve(1))).toBeInstanceOf(LedgerUnavailableError);
      faulty.otherwise = "ok";
      await account.reserve(1);
    }
  });

  it("no account is insured anew because the store answers others", async () => {
    const { faulty, account, guard } = setUp(away);
    const other = new Fixture(account.clock, guard, {});
    const { reserve } = faulty;
    let isAway = true;
    faulty.reserve = async (request) => {
      if (isAway && request.account === account.id) throw new Error("This account's shard is away.");
      return reserve(request);
    };
    let admitted = 0;
    for (let count = 0; count < 20; count++) {
      const outcome = await within(300, account.reserve(30));
      if (!(outcome instanceof Error)) {
        admitted += 30;
        if (outcome.ok) await guard.settle(outcome.lease, { amountMicro: 30 });
      }
      // Also by other operations, and of the same account.
      await other.spend(1);
      await guard.balance(account.id, account.limits);
      await vi.advanceTimersByTimeAsync(5_000);
    }
    expect(admitted).toBe(120);
    isAway = false;
    await account.reserve(1);
    isAway = true;
    expect(await within(300, account.reserve(100))).toMatchObject({ ok: true });
  });

  it("all calls are let in where the host allows it", async () => {
    const { faulty, account, counts } = setUp({ insureMicro: null });
    faulty.otherwise = "hung";
    await within(300, account.reserve(1));
    const admitted = Promise.all(Array.from({ length: 50 }, () => account.admit(1_000)));
    const leases = await within(300, admitted);
    if (leases instanceof Error) throw leases;
    for (const lease of leases) await account.ledger.settle(lease, { amountMicro: 900 });
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await counts()).toEqual([45_000, 0]);
  });

  it("leases that run out meanwhile are settled late, and the books balance", async () => {
    const { faulty, account, guard, counts, events } = setUp();
    const lease = await account.admit(10);
    await guard.renew([{ lease, observedMicro: 4, leaseMs: 60_000 }]);
    faulty.otherwise = "hung";
    void guard.settle(lease, { amountMicro: 7 }).catch(() => {});
    await vi.advanceTimersByTimeAsync(50_000);
    faulty.otherwise = "ok";
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await counts()).toEqual([7, 0]);
    expect(ofType(events, "settle_delivered")).toHaveLength(1);
  });
});

describe("other operations", () => {
  it("end in time too, and are repeated when they fail", async () => {
    const { faulty, account, guard } = setUp();
    const { id: accountId, limits } = account;
    const operations: (() => Promise<unknown>)[] = [
      () => guard.balance(accountId, limits),
      () => guard.grant({ id: "g", account: accountId, window: "week", amountMicro: 1, limits }),
      () => guard.reset(accountId, ["week"]),
      () => guard.deduct?.({ id: "d", account: accountId, amountMicro: 1 }) ?? Promise.reject(new Error("It deducts.")),
      () => guard.forget(accountId),
      () => guard.history?.({ account: accountId }) ?? Promise.reject(new Error("There is a history.")),
    ];
    for (const operation of operations) {
      faulty.fates = ["hung"];
      expect(await within(34_000, operation())).toBeInstanceOf(LedgerUnavailableError);
      faulty.fates = ["refused", "refused"];
      expect(await within(200, operation())).not.toBeInstanceOf(Error);
    }
  });

  it("take prepaid credits back once, though their answer is lost", async () => {
    const { store, faulty, account, guard } = setUp();
    await guard.topUp?.({ id: "t", account: account.id, amountMicro: 10 });
    faulty.fates = ["lost"];
    const deduction = guard.deduct?.({ id: "d", account: account.id, amountMicro: 4 }) ?? Promise.reject();
    expect(await within(200, deduction)).toMatchObject({ balanceMicro: 6 });
    expect(faulty.arrived.filter((operation) => operation === "deduct")).toHaveLength(2);
    expect((await store.balance(account.id, account.limits)).prepaid).toMatchObject({ balanceMicro: 6 });
  });

  it("sweep without repetition, and tell that the ledger is away", async () => {
    const { faulty, account, guard, types } = setUp();
    const sweep = () => guard.sweep?.() ?? Promise.reject(new Error("It sweeps."));
    await account.admit(1, { leaseMs: 1_000 });
    await vi.advanceTimersByTimeAsync(1_000);
    faulty.arrived.length = 0;
    faulty.fates = ["refused"];
    expect(await within(200, sweep())).toBeInstanceOf(LedgerUnavailableError);
    expect([faulty.arrived, types()]).toEqual([["sweep"], ["unavailable"]]);
    expect(await within(1, sweep())).toBe(1);
    expect(types()).toEqual(["unavailable", "available"]);
    faulty.fates = ["hung"];
    expect(await within(31_000, sweep())).toBeInstanceOf(LedgerUnavailableError);
    faulty.fates = [20_000];
    expect(await within(21_000, sweep())).toBe(0);
  });

  it("forget an account with a long journal, which takes its time, and do not take the ledger for away", async () => {
    const { faulty, account, guard, events } = setUp();
    faulty.fates = [20_000];
    expect(await within(21_000, guard.forget(account.id))).toBeUndefined();
    expect(ofType(events, "unavailable")).toEqual([]);
  });

  it("renew many leases in parts, each for itself", async () => {
    const { faulty, account, guard } = setUp();
    const leases = await Promise.all(Array.from({ length: 1_200 }, () => account.admit(1)));
    const requests = leases.map((lease) => ({ lease, observedMicro: 0, leaseMs: 60_000 }));
    faulty.arrived.length = 0;
    expect(new Set(await guard.renew(requests))).toEqual(new Set(["renewed"]));
    expect(faulty.arrived).toHaveLength(3);
    faulty.fates = ["hung"];
    expect(await within(2_300, guard.renew(requests))).toBeInstanceOf(LedgerUnavailableError);
    expect(faulty.arrived).toHaveLength(6);
  });

  it("renew very many leases of a store that hangs in bounded time, a few parts at once", async () => {
    const { store, faulty, account, guard } = setUp();
    const leases = await Promise.all(Array.from({ length: 15_000 }, () => account.admit(1)));
    const requests = leases.map((lease) => ({ lease, observedMicro: 0, leaseMs: 60_000 }));
    let [atOnce, most] = [0, 0];
    const reached = new Set<string>();
    // What arrives takes effect, but its answer does not come within the time.
    faulty.renew = async (some) => {
      most = Math.max(most, ++atOnce);
      for (const { lease } of some) reached.add(lease.id);
      await store.renew(some);
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      atOnce--;
      return some.map(() => "renewed" as const);
    };
    expect(await within(12_000, guard.renew(requests))).toBeInstanceOf(LedgerUnavailableError);
    expect(reached.size).toBe(15_000);
    expect(most).toBeLessThanOrEqual(10);
  });

  it("leave no timer behind that keeps the process alive for long", async () => {
    const { guard, account } = setUp();
    await guard.history?.({ account: account.id });
    await vi.advanceTimersByTimeAsync(250);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("of a ledger without a history have none", () => {
    expect(guarded(memoryCreditLedger({ historyEntries: 0 })).guard.history).toBeUndefined();
  });

  it("of a ledger without prepaid credits and sweeps have none", () => {
    const { deduct, sweep, ...less } = memoryCreditLedger();
    const { guard } = guarded(less);
    expect([guard.deduct, guard.sweep]).toEqual([undefined, undefined]);
    expect([deduct, sweep]).not.toContain(undefined);
  });
});

describe("a ledger in memory", () => {
  it("is passed on as it is, but for what a host puts in its place", async () => {
    const store = memoryCreditLedger();
    const { guard } = guarded(store);
    const account = new Fixture(new FakedClock(start), guard, {});
    const lease = await account.admit(1);
    store.settle = () => new Promise(() => {});
    expect(await within(300, guard.settle(lease, { amountMicro: 1 }))).toBeInstanceOf(LedgerUnavailableError);
    vi.spyOn(store, "reserve").mockImplementation(() => new Promise(() => {}));
    expect(await within(300, account.reserve(1))).toBeInstanceOf(LedgerUnavailableError);
    const copy = guarded({ ...memoryCreditLedger(), release: () => new Promise(() => {}) });
    expect(await within(300, copy.guard.release(lease))).toBeInstanceOf(LedgerUnavailableError);
    expect(await account.counts()).toEqual(everywhere(0, 1));
  });
});
