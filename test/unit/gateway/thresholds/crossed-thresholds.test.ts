import { describe, expect, it } from "vitest";
import { crossedThresholds } from "../../../../src/gateway/thresholds.js";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import { totalBounds } from "../../../../src/ledger/limits.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";

const of = (...percent: number[]) => ({ percent, prepaidMicro: undefined });
const now = Date.UTC(2026, 0, 5, 12);

describe("a key's cap", () => {
  it("reaches a threshold by its own charges, whatever funds them, and names the key", async () => {
    const ledger = memoryCreditLedger({ clock: new ManualClock(now) });
    const credits = { session: 0, week: null, month: null };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now });
    const caps = [{ id: "key_1:total", window: "total" as const, limitMicro: 10, bounds: totalBounds }];
    await ledger.topUp?.({ id: "a", account: "acct", amountMicro: 1000 });
    const found = [];
    for (const [index, amountMicro] of [7, 1, 5, 1].entries()) {
      const request = { id: `c${index}`, account: "acct", amountMicro, limits, leaseMs: 60_000, caps };
      const result = await ledger.reserve(request);
      if (!result.ok) break;
      const settlement = { amountMicro, tags: { keyId: "key_1" } };
      const settled = await ledger.settle(result.lease, settlement);
      found.push(crossedThresholds(result.lease, settlement, settled, of(80, 100)));
      const again = await ledger.settle(result.lease, settlement);
      expect(crossedThresholds(result.lease, settlement, again, of(80, 100))).toEqual([]);
    }
    const cap = { account: "acct", keyId: "key_1", window: "total", limitMicro: 10, resetsAt: null };
    expect(found).toEqual([[], [{ ...cap, percent: 80, usedMicro: 8 }], [{ ...cap, percent: 100, usedMicro: 13 }]]);
  });
});

it("a charge to a session that is over reaches no threshold of the next one", async () => {
  const clock = new ManualClock(now);
  const ledger = memoryCreditLedger({ clock });
  const limits = windowLimits({ credits: { session: 100, week: null, month: null }, sessionMs: 60_000, now });
  const reserve = async (id: string) => {
    const result = await ledger.reserve({ id, account: "acct", amountMicro: 50, limits, leaseMs: 600_000 });
    if (!result.ok) throw new Error("The limit is not reached.");
    return result.lease;
  };
  const old = await reserve("old");
  clock.advance(60_000);
  await ledger.settle(await reserve("new"), { amountMicro: 85 });
  const settled = await ledger.settle(old, { amountMicro: 50 });
  expect(settled.windows.session.usedMicro).toBe(85);
  expect(crossedThresholds(old, { amountMicro: 50 }, settled, of(80))).toEqual([]);
});
