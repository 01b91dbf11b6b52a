import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { denialError } from "../../src/call/admission/denial.js";
import { repeatedDenial } from "../../src/call/admission/repeated-denial.js";
import type { DeniedReservation, WindowState } from "../../src/ledger/credit-ledger.js";
import { windowLimits } from "../../src/ledger/windows.js";

const start = Date.UTC(2026, 2, 11);
const limits = windowLimits({ credits: { session: 1000, week: 5000, month: null }, sessionMs: 3_600_000, now: start });

/** Few values, so that many denials are the same. */
const state: fc.Arbitrary<WindowState> = fc.record({
  limitMicro: fc.constantFrom(1_000_000, null),
  usedMicro: fc.constantFrom(1_000_000, 1_500_000),
  heldMicro: fc.constantFrom(0, 1),
  bonusMicro: fc.constantFrom(0, 500_000),
  startsAt: fc.constant(start),
  resetsAt: fc.constantFrom(start + 60_000, start + 90_500),
});
const denial: fc.Arbitrary<DeniedReservation> = fc.record({
  ok: fc.constant(false as const),
  windows: fc.record({ session: state, week: state, month: state }),
  blocked: fc.tuple(
    fc.record({
      window: fc.constantFrom("session" as const, "week" as const),
      cause: fc.constantFrom("used" as const, "held" as const),
      availableAt: fc.constantFrom(start + 60_000, start + 90_500),
    }),
  ),
  prepaid: fc.constantFrom(undefined, undefined, { balanceMicro: 0, overdrawnMicro: 0, heldMicro: 0, lots: [] }),
  now: fc.constantFrom(start, start + 1, start + 999, start + 1000),
});

const words = ({ message, status, code, type, headers }: ReturnType<typeof denialError>) => ({
  ...{ message, status, code, type, headers },
});

describe("the 429 of an account that is denied again", () => {
  it("says what the 429 of this denial alone says, whatever came before", () => {
    fc.assert(
      fc.property(fc.array(denial, { minLength: 2, maxLength: 12 }), (denials) => {
        for (const each of denials)
          expect(words(repeatedDenial(each, limits, []))).toEqual(words(denialError(each, [])));
      }),
    );
  });

  it("is the same error within a second, and another one for another account", () => {
    const [first] = fc.sample(
      denial.filter(({ prepaid }) => prepaid === undefined),
      1,
    );
    if (first === undefined) throw new Error("no denial");
    const again = { ...first, now: first.now };
    const error = repeatedDenial(first, limits, []);
    expect(repeatedDenial(again, limits, [])).toBe(error);
    expect(repeatedDenial(again, { ...limits }, [])).not.toBe(error);
    expect(repeatedDenial({ ...again, now: first.now - 1000 }, limits, [])).not.toBe(error);
  });
});
