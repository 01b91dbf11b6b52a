import { afterEach, expect, it, vi } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { collectGarbage } from "../../../support/collect-garbage.js";
import { guarded } from "../../../support/guard/guarded.js";

afterEach(() => {
  vi.useRealTimers();
});

const limits = windowLimits({
  credits: { session: null, week: null, month: null },
  sessionMs: 18_000_000,
  now: Date.now(),
});

/** A guard that keeps so many settlements for a ledger that is away. */
async function keeping(count: number) {
  const store = memoryCreditLedger();
  const ledger = { isAway: true };
  const { guard } = guarded({
    ...store,
    settle: async (lease, settlement) => {
      if (ledger.isAway) throw new Error("away");
      return store.settle(lease, settlement);
    },
  });
  const settleOne = async (id: string) => {
    const reserved = await store.reserve({ id, account: "acct_a", amountMicro: 10, limits, leaseMs: 60_000 });
    if (!reserved.ok) throw new Error("It was not admitted.");
    await guard.settle(reserved.lease, { amountMicro: 5, estimated: false }).catch(() => {});
  };
  for (let index = 0; index < count; index++) await settleOne(`call_${index}`);
  return { guard, ledger, settleOne };
}

it("waits that were given up in an outage hold no memory", async () => {
  vi.useFakeTimers();
  const { guard } = await keeping(500);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let request = 0; request < 2_000; request++) void guard.idle(1);
  await vi.advanceTimersByTimeAsync(1);
  collectGarbage();
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(5);
  expect(guard.health.kept).toBe(500);
});

it("a wait ends with what was kept when it began, and not with what came later", async () => {
  vi.useFakeTimers();
  const { guard, ledger, settleOne } = await keeping(3);
  let isOver = false;
  const idle = guard.idle(60_000).then(() => {
    isOver = true;
  });
  await settleOne("call_later");
  await vi.advanceTimersByTimeAsync(59_000);
  expect(isOver).toBe(false);
  ledger.isAway = false;
  await vi.advanceTimersByTimeAsync(999);
  await guard.close();
  await idle;
  expect([isOver, guard.health.kept]).toEqual([true, 0]);
});
