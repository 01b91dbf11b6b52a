import { describe, expect, it, vi } from "vitest";
import { releaseIn, reserveIn, settleIn } from "../../../src/ledger/at-once.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger, ReserveResult, WindowStates } from "../../../src/ledger/credit-ledger.js";
import { statesNow } from "../../../src/ledger/window-states.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";

const now = Date.UTC(2026, 2, 11);
const limits = windowLimits({ credits: { session: 1000, week: 5000, month: null }, sessionMs: 3_600_000, now });
const requestOf = (id: string, amountMicro = 600) => ({ id, account: "acct_1", amountMicro, limits, leaseMs: 60_000 });
const ledgerOf = () => memoryCreditLedger({ clock: { now: () => now } });

type Ways = Pick<CreditLedger, "reserve" | "settle" | "release">;

/** What a ledger does: one call that is charged, one that is given back, one that is denied, and a repetition of each. */
async function historyBy({ reserve, settle, release }: Ways): Promise<unknown[]> {
  const results: ReserveResult[] = [];
  for (const id of ["req_1", "req_1", "req_2", "req_3"]) results.push(await reserve(requestOf(id)));
  const [first, , second] = results;
  if (first?.ok !== true || second?.ok !== true) throw new Error("not admitted");
  const ends = [
    await settle(first.lease, { amountMicro: 700, tags: { model: "small" } }),
    await settle(first.lease, { amountMicro: 700 }),
    await release(second.lease),
    await release(second.lease),
  ];
  return [...results, ...ends, await reserve(requestOf("req_4"))];
}

/** Reads the windows at once, as calls do: later they are others. */
const read = <Result extends { windows: WindowStates }>(result: Result): Result => ({
  ...result,
  windows: statesNow(result.windows),
});

const atOnce = (ledger: CreditLedger): Ways => ({
  reserve: async (request) => read(await reserveIn(ledger, request)),
  settle: async (lease, settlement) => read(await settleIn(ledger, lease, settlement)),
  release: async (lease, rates) => read(await releaseIn(ledger, lease, rates)),
});

describe("a ledger in this process's memory", () => {
  it("does the same at once as by its methods", async () => {
    const [one, other] = [ledgerOf(), ledgerOf()];
    expect(await historyBy(atOnce(one))).toEqual(await historyBy(other));
    expect(await one.history?.({ account: "acct_1" })).toEqual(await other.history?.({ account: "acct_1" }));
  });

  it("makes no promise, and throws at once", () => {
    const ledger = ledgerOf();
    const result = reserveIn(ledger, requestOf("req_1"));
    if (result instanceof Promise || !result.ok) throw new Error("not at once");
    expect(settleIn(ledger, result.lease, { amountMicro: 1 })).toMatchObject({ status: "settled" });
    expect(releaseIn(ledger, result.lease)).toMatchObject({ status: "duplicate" });
    expect(() => reserveIn(ledger, requestOf("req_2", -1))).toThrow("amountMicro");
  });

  it("is called by the methods that its host has put in their places, also in a copy", async () => {
    const replaced = ledgerOf();
    const result = await reserveIn(replaced, requestOf("req_1"));
    if (!result.ok) throw new Error("denied");
    const [reserve, settle, release] = [vi.fn(), vi.fn(), vi.fn()];
    for (const ledger of [
      Object.assign(replaced, { reserve, settle, release }),
      { ...ledgerOf(), reserve, settle, release },
    ]) {
      await reserveIn(ledger, requestOf("req_2"));
      await settleIn(ledger, result.lease, { amountMicro: 1 });
      await releaseIn(ledger, result.lease);
    }
    for (const method of [reserve, settle, release]) expect(method).toHaveBeenCalledTimes(2);
  });
});
