import { describe, expect, it } from "vitest";
import { canHold, newInstance } from "../../src/ledger/account-state.js";
import { windowNames } from "../../src/ledger/credit-ledger.js";

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
