import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type KeptLease, LeaseKeeper } from "../../../src/call/lease-keeper.js";
import type { GatewayWarning } from "../../../src/events/warning.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger, Lease, RenewRequest, RenewStatus } from "../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const starts = { session: 0, week: 0, month: 0 };
const limits = windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: 60_000, now: 0 });
const lease = (id: string): Lease => ({
  id,
  account: "a",
  amountMicro: 10,
  expiresAt: 0,
  starts,
  ends: starts,
  limits,
});

function keep(keeper: LeaseKeeper, lease: Lease, observed: () => number): KeptLease {
  const kept = { lease, observed, place: -1 };
  keeper.keep(kept);
  return kept;
}

function setUp(
  answer: (requests: readonly RenewRequest[]) => RenewStatus[] = (requests) => requests.map(() => "renewed"),
  isolate = false,
) {
  const renewals: [string, number][][] = [];
  const warnings: GatewayWarning[] = [];
  const ledger: CreditLedger = {
    ...memoryCreditLedger(),
    renew: async (requests) => {
      renewals.push(requests.map((request) => [request.lease.id, request.observedMicro]));
      return answer(requests);
    },
  };
  return {
    renewals,
    warnings,
    keeper: new LeaseKeeper(ledger, { leaseMs: 60_000, warn: (warning) => warnings.push(warning), isolate }),
  };
}

describe("LeaseKeeper", () => {
  it("renews all leases together, three times in their life, with the cost so far", async () => {
    const { keeper, renewals } = setUp();
    let observed = 1;
    keep(keeper, lease("a"), () => observed);
    keep(keeper, lease("b"), () => 7);
    await vi.advanceTimersByTimeAsync(20_000);
    observed = 5;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(renewals).toEqual([
      [
        ["a", 1],
        ["b", 7],
      ],
      [
        ["a", 5],
        ["b", 7],
      ],
    ]);
    keeper.stop();
  });

  it("stops renewing what was dropped or is closed, and sleeps when nothing is left", async () => {
    const { keeper, renewals } = setUp((requests) =>
      requests.map(({ lease: { id } }) => (id === "b" ? "closed" : "renewed")),
    );
    const a = keep(keeper, lease("a"), () => 0);
    keep(keeper, lease("b"), () => 0);
    await vi.advanceTimersByTimeAsync(20_000);
    keeper.drop(a);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(renewals).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
    keep(keeper, lease("c"), () => 3);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(renewals.at(-1)).toEqual([["c", 3]]);
    keeper.stop();
  });

  it("begins no round before the one before has ended, and goes on when it has", async () => {
    const ends: (() => void)[] = [];
    const { keeper, renewals } = setUp();
    let [atOnce, most] = [0, 0];
    const slow: CreditLedger = {
      ...memoryCreditLedger(),
      async renew(requests) {
        most = Math.max(most, ++atOnce);
        renewals.push(requests.map(({ lease: { id }, observedMicro }) => [id, observedMicro]));
        await new Promise<void>((resolve) => ends.push(resolve));
        atOnce--;
        if (renewals.length === 2) throw new Error("down");
        return requests.map(() => "renewed" as const);
      },
    };
    const slowKeeper = new LeaseKeeper(slow, { leaseMs: 60_000, warn: () => {} });
    keep(slowKeeper, lease("a"), () => renewals.length);
    await vi.advanceTimersByTimeAsync(70_000);
    expect(renewals).toEqual([[["a", 0]]]);
    for (let round = 2; round < 5; round++) {
      ends.shift()?.();
      await vi.advanceTimersByTimeAsync(30_000);
      expect(renewals).toHaveLength(round);
    }
    expect(most).toBe(1);
    slowKeeper.stop();
    keeper.stop();
  });

  it("warns and tries again when the ledger fails", async () => {
    let broken = true;
    const { keeper, renewals, warnings } = setUp((requests) => {
      if (broken) throw new Error("down");
      return requests.map(() => "renewed");
    });
    keep(keeper, lease("a"), () => 0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(warnings).toMatchObject([{ code: "ledger_failed" }]);
    broken = false;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(renewals).toHaveLength(2);
    keeper.stop();
  });

  it("renews each lease by itself in an isolate, by a timer that ends with its call", async () => {
    const { keeper, renewals } = setUp(undefined, true);
    const a = keep(keeper, lease("a"), () => 1);
    await vi.advanceTimersByTimeAsync(5_000);
    keep(keeper, lease("b"), () => 7);
    expect(vi.getTimerCount()).toBe(2);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(renewals).toEqual([[["a", 1]], [["b", 7]]]);
    keeper.drop(a);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(renewals.slice(2)).toEqual([[["b", 7]]]);
    keeper.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("forgets in an isolate, after a lease's time, what a runtime has cut off without a word", async () => {
    const { keeper, renewals } = setUp(undefined, true);
    keep(keeper, lease("cut off"), () => 1);
    vi.clearAllTimers();
    keep(keeper, lease("long"), () => 2);
    await vi.advanceTimersByTimeAsync(61_000);
    keep(keeper, lease("later"), () => 3);
    await vi.advanceTimersByTimeAsync(20_000);
    // Neither is the one that goes on forgotten, nor renewed the one that was cut off.
    expect(renewals.at(-1)).toEqual([["later", 3]]);
    expect(renewals.flat().filter(([id]) => id === "long")).toHaveLength(4);
    expect(renewals.flat().map(([id]) => id)).not.toContain("cut off");
    // Of the keeper itself, and of the two that are left.
    const stopped = vi.spyOn(LeaseKeeper.prototype, "stop");
    keeper.stop();
    expect(stopped).toHaveBeenCalledTimes(3);
    stopped.mockRestore();
    expect(vi.getTimerCount()).toBe(0);
  });
});
