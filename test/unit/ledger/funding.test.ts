import { expect, it } from "vitest";
import { LedgerClockError, type WindowState } from "../../../src/ledger/credit-ledger.js";
import { freshCaps, leaseKey } from "../../../src/ledger/rules/reservation.js";
import { fundingOf, livesOnPrepaid, remaining } from "../../../src/ledger/window-states.js";

function state(limitMicro: number | null, more: Partial<WindowState> = {}): WindowState {
  return { limitMicro, usedMicro: 0, heldMicro: 0, bonusMicro: 0, startsAt: null, resetsAt: null, ...more };
}

it("what paid for a call is told by what prepaid credits paid", () => {
  expect([fundingOf(10, 0), fundingOf(10, 3), fundingOf(10, 10), fundingOf(0, 0)]).toEqual([
    "plan",
    "split",
    "prepaid",
    "plan",
  ]);
});

it("an account lives on prepaid credits where it has had some and one window can never have any", () => {
  const prepaid = { balanceMicro: 0, overdrawnMicro: 0, heldMicro: 0, lots: [] };
  const windows = { session: state(null), week: state(0), month: state(5) };
  expect(livesOnPrepaid({ windows, prepaid })).toBe(true);
  expect(livesOnPrepaid({ windows })).toBe(false);
  const of = (week: WindowState) => livesOnPrepaid({ windows: { ...windows, week }, prepaid });
  expect(of(state(0, { bonusMicro: -1 }))).toBe(true);
  expect(of(state(0, { bonusMicro: 1 }))).toBe(false);
  expect(of(state(1, { usedMicro: 1 }))).toBe(false);
  expect(of(state(null))).toBe(false);
});

it("what remains of a window counts charges and bonuses, not holds, and is never below 0", () => {
  expect(remaining(state(null, { usedMicro: 5 }))).toBeNull();
  expect(remaining(state(10, { usedMicro: 4, heldMicro: 3, bonusMicro: 2 }))).toBe(8);
  expect(remaining(state(10, { usedMicro: 14 }))).toBe(0);
});

it("the caps of a lease of which nothing is known are those of now", () => {
  const cap = { id: "key/day", window: "day", limitMicro: 10, bounds: [10, 20, 30, 40] } as const;
  const other = { id: "key/week", window: "week", limitMicro: 5, bounds: [0, 25, 50, 75] } as const;
  expect(freshCaps([cap, other], 25)).toEqual([
    { id: "key/day", window: "day", limitMicro: 10, start: 20, end: 30 },
    { id: "key/week", window: "week", limitMicro: 5, start: 25, end: 50 },
  ]);
  expect(() => freshCaps([cap], 40)).toThrow(LedgerClockError);
});

it("a lease is told from those of other accounts", () => {
  const keys = [
    { account: "a", id: "bc" },
    { account: "ab", id: "c" },
    { account: "a", id: "b" },
  ].map(leaseKey);
  expect(new Set(keys).size).toBe(3);
});
