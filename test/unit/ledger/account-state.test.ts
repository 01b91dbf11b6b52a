import { describe, expect, it } from "vitest";
import { LedgerClockError, windowNames } from "../../../src/ledger/credit-ledger.js";
import type { Bounds } from "../../../src/ledger/limits.js";
import {
  admittingInstances,
  calendarInstance,
  canHold,
  charged,
  newInstance,
  noInstances,
} from "../../../src/ledger/rules/windows.js";

describe("canHold", () => {
  const empty = { session: undefined, week: undefined, month: undefined };

  it.each(windowNames)("refuses what the %s could not count", (name) => {
    const full = { ...newInstance(0, 1), held: Number.MAX_SAFE_INTEGER - 5 };
    expect([canHold({ ...empty, [name]: full }, 5), canHold({ ...empty, [name]: full }, 6)]).toEqual([true, false]);
  });

  it("takes any countable amount where nothing is open", () => {
    expect(canHold(empty, Number.MAX_SAFE_INTEGER)).toBe(true);
  });
});

const bounds: Bounds = [10, 20, 30, 40];

describe("a calendar window", () => {
  it.each([
    [9, undefined],
    [10, [10, 20]],
    [19, [10, 20]],
    [20, [20, 30]],
    [29, [20, 30]],
    [30, [30, 40]],
    [39, [30, 40]],
    [40, undefined],
  ] as const)("is at %s within its bounds", (now, expected) => {
    const instance = calendarInstance(noInstances.week, bounds, now);
    expect(instance && [instance.start, instance.end]).toEqual(expected);
  });

  it.each(["week", "month"] as const)("admits nothing where the bounds of the %s alone miss the moment", (name) => {
    const missed = { limitMicro: null, bounds: [50, 60, 70, 80] } as const;
    const known = { limitMicro: null, bounds };
    const limits = { session: { limitMicro: null, lengthMs: 5 }, week: known, month: known, [name]: missed };
    expect(() => admittingInstances(noInstances, limits, 25)).toThrow(LedgerClockError);
  });
});

describe("a charge of a later instance than the newest one", () => {
  it.each([
    [19, [0, 20, 0]],
    [20, [20, 40, 7]],
    [39, [20, 40, 7]],
    [40, [0, 20, 0]],
  ] as const)("begins it at %s, from the end of the newest one to its own", (now, expected) => {
    const { start, end, used } = charged(newInstance(0, 20), { start: 20, end: 40 }, { held: 0, charge: 7 }, now);
    expect([start, end, used]).toEqual(expected);
  });
});
