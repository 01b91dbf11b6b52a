import { describe, expect, it } from "vitest";
import type { Lease } from "../../../../src/ledger/credit-ledger.js";
import { Insurance } from "../../../../src/ledger/guard/insurance.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { admitted, Fixture, hour, start } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";

function setUp(most: number | null = 10) {
  const clock = new ManualClock(start);
  const insurance = new Insurance(most, clock);
  const { limits } = new Fixture(clock, memoryCreditLedger(), {});
  let serial = 0;
  const reserve = (account: string, amount = 1, id = `id_${++serial}`) =>
    insurance.reserve({ id, account, amountMicro: amount, limits, leaseMs: 60_000 });
  const admit = (account: string, amount = 1): Lease => {
    const result = reserve(account, amount);
    if (result === undefined) throw new Error("It is not insured.");
    return admitted(result).lease;
  };
  return { clock, insurance, reserve, admit };
}

describe("insurance", () => {
  it("lets an account in until what it has used and holds is the sum", () => {
    const { insurance, reserve, admit } = setUp();
    const first = admit("a", 9);
    const second = admit("a", 50);
    expect(reserve("a")).toBeUndefined();
    insurance.settle(second, 0);
    insurance.renew(first, 10);
    expect(reserve("a")).toBeUndefined();
    insurance.settle(first, 3);
    insurance.settle(first, 3);
    expect(insurance.covers(first)).toBe(false);
    insurance.settle(admit("a", 7), 7);
    expect(reserve("a")).toBeUndefined();
    insurance.end("b");
    expect(reserve("a")).toBeUndefined();
    insurance.end("a");
    expect(reserve("a", 10)).toMatchObject({ ok: true });
  });

  it("does not count in one outage what was begun in another", () => {
    const { insurance, admit } = setUp();
    const earlier = admit("a", 10);
    insurance.end("a");
    admit("a", 9);
    insurance.settle(earlier, 10);
    expect(() => admit("a", 1)).not.toThrow();
  });

  it("knows a request again, and refuses what a ledger would", () => {
    const { insurance, reserve, clock } = setUp();
    const first = reserve("a", 4, "same");
    expect(reserve("a", 4, "same")).toEqual({ ...first, replayed: true });
    expect(reserve("a", 5)).toMatchObject({ ok: true });
    expect(reserve("a", 1)).toMatchObject({ ok: true });
    expect(reserve("a", 1)).toBeUndefined();
    insurance.end("a");
    expect(reserve("a", -1)).toBeUndefined();
    // Beyond the bounds of the limits.
    clock.advance(90 * 24 * hour);
    expect(reserve("a", 1)).toBeUndefined();
  });

  it("keeps apart the requests of two accounts that have the same id", () => {
    const { insurance, reserve } = setUp();
    const [one, other] = ["a", "b"].map((account) => reserve(account, 10, "same")?.lease as Lease);
    expect([one?.account, other?.account]).toEqual(["a", "b"]);
    insurance.settle(one as Lease, 1);
    expect([insurance.covers(one as Lease), insurance.covers(other as Lease)]).toEqual([false, true]);
    expect(reserve("b")).toBeUndefined();
  });

  it("opens one session for an account's calls, and another when it is over", () => {
    const { clock, admit } = setUp(null);
    const first = admit("a");
    clock.advance(hour);
    expect(admit("a").starts).toEqual(first.starts);
    clock.set(first.ends.session);
    expect(admit("a").starts.session).toBe(first.ends.session);
  });

  it("keeps a bounded number of accounts, and forgets none that was insured within the hour", () => {
    const { clock, insurance, reserve, admit } = setUp();
    const openCall = admit("in flight", 10);
    insurance.settle(admit("quiet", 10), 10);
    clock.advance(1);
    for (let count = 2; count < 10_000; count++) insurance.settle(admit(`account_${count}`, 10), 10);
    expect(reserve("one more")).toBeUndefined();
    clock.advance(hour - 1);
    // The quiet account makes room for one, and the one with a call in flight does not.
    expect(reserve("one more")).toMatchObject({ ok: true });
    expect(reserve("in flight")).toBeUndefined();
    expect(reserve("account_5000")).toBeUndefined();
    expect(reserve("and another")).toBeUndefined();
    clock.advance(1);
    expect(reserve("and another")).toMatchObject({ ok: true });
    expect(insurance.covers(openCall)).toBe(true);
  });
});
