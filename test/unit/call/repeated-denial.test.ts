import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RateRule } from "../../../src/access/rate-rules.js";
import { denialError } from "../../../src/call/admission/denial.js";
import { RepeatedDenials } from "../../../src/call/admission/repeated-denial.js";
import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import type { DeniedReservation, WindowState } from "../../../src/ledger/credit-ledger.js";
import type { CapLimit } from "../../../src/ledger/limits.js";

const start = Date.UTC(2026, 2, 11);
const limits = windowLimits({ credits: { session: 1000, week: 5000, month: null }, sessionMs: 3_600_000, now: start });
const caps: readonly CapLimit[] = (["day", "week"] as const).map((window) => ({
  ...{ id: `key/${window}`, window, limitMicro: 1_000_000 },
  bounds: capBounds(window, undefined, start),
}));
const ruleOf = (kind: RateRule["kind"], burst: number): RateRule => ({
  ...{ id: `plan/${kind}`, kind, limit: 10, burst, owner: "plan", pattern: undefined, count: "total", cached: false },
});
/** Two plans that differ in their bursts alone. */
const rulesOf = (burst: number) => [ruleOf("requests", burst), ruleOf("tokens", 10)];
const rules = [rulesOf(10), rulesOf(20)];

/** Few values, so that many denials are the same. */
const availableAt = fc.constantFrom(start + 60_000, start + 60_001, start + 90_500);
const state: fc.Arbitrary<WindowState> = fc.record({
  limitMicro: fc.constantFrom(1_000_000, null, 0),
  usedMicro: fc.constantFrom(0, 1_000_000, 1_500_000),
  heldMicro: fc.constantFrom(0, 1),
  bonusMicro: fc.constantFrom(0, 500_000),
  startsAt: fc.constant(start),
  resetsAt: fc.constantFrom(start + 60_000, start + 90_500),
});
const cause = fc.constantFrom("used" as const, "held" as const);
const prepaid = fc.option(
  fc.record({
    balanceMicro: fc.constantFrom(0, -5, 7_000_000),
    overdrawnMicro: fc.constantFrom(0, 5),
    heldMicro: fc.constantFrom(0, 3),
    lots: fc.constant([]),
  }),
  { nil: undefined },
);
const capState = (id: string, window: "day" | "week") =>
  fc.record({
    ...{ id: fc.constant(id), window: fc.constant(window), limitMicro: fc.constantFrom(1_000_000, 2_000_000) },
    ...{ usedMicro: fc.constantFrom(1_000_000, 1_000_001), heldMicro: fc.constantFrom(0, 1) },
    ...{ startsAt: fc.constant(start), resetsAt: fc.constant(null) },
  });
const rateState = (kind: "requests" | "tokens") =>
  fc.record({
    ...{ id: fc.constant(`plan/${kind}`), kind: fc.constant(kind), limit: fc.constant(10) },
    ...{ remaining: fc.constantFrom(0, 1), fullInMs: fc.constantFrom(0, 1500) },
  });
const blockedRate = fc.constantFrom("requests" as const, "tokens" as const).chain((kind) =>
  fc.record({
    ...{ id: fc.constant(`plan/${kind}`), kind: fc.constant(kind), limit: fc.constantFrom(10, 0), cause },
    availableAt: fc.oneof(availableAt, fc.constant(null)),
  }),
);
const blockedCap = fc.constantFrom("day" as const, "week" as const).chain((window) =>
  fc.record({
    ...{ id: fc.constant(`key/${window}`), window: fc.constant(window), cause },
    availableAt: fc.oneof(availableAt, fc.constant(null)),
  }),
);
const blockedWindow = fc.record({ window: fc.constantFrom("session" as const, "week" as const), cause, availableAt });

/** What denies, and the rates of the plan. */
interface Denied {
  readonly denial: DeniedReservation;
  readonly plan: 0 | 1;
}

const denied: fc.Arbitrary<Denied> = fc
  .record({
    windows: fc.record({ session: state, week: state, month: state }),
    blocked: fc.array(blockedWindow, { maxLength: 2 }),
    blockedCaps: fc.array(blockedCap, { maxLength: 2 }),
    blockedRates: fc.array(blockedRate, { maxLength: 2 }),
    prepaid,
    caps: fc.tuple(capState("key/day", "day"), capState("key/week", "week")),
    rates: fc.tuple(rateState("requests"), rateState("tokens")),
    now: fc.constantFrom(start, start + 1, start + 999, start + 1000),
    plan: fc.constantFrom(0 as const, 1 as const),
  })
  .filter(({ blocked, blockedCaps, blockedRates }) => blocked.length + blockedCaps.length + blockedRates.length > 0)
  .map(({ plan, ...denial }) => ({ plan, denial: { ok: false as const, ...denial } }));

const words = ({ message, status, code, type, headers }: ReturnType<typeof denialError>) => ({
  ...{ message, status, code, type, headers },
});
const denials = new RepeatedDenials();
const repeated = ({ denial, plan }: Denied) => denials.of(denial, limits, { caps, rules: rules[plan] ?? [] });

/** A denial by the session's credits alone. */
function deniedBySession(now: number, availableAt: number): DeniedReservation {
  const open = {
    limitMicro: 1_000_000,
    usedMicro: 1_000_000,
    heldMicro: 0,
    bonusMicro: 0,
    startsAt: start,
    resetsAt: null,
  };
  const unlimited = { ...open, limitMicro: null };
  return {
    ...{ ok: false, windows: { session: open, week: unlimited, month: unlimited }, now },
    blocked: [{ window: "session", cause: "used", availableAt }],
  };
}

describe("the 429 of an account that is denied again", () => {
  it("says what the 429 of this denial alone says, whatever came before", () => {
    fc.assert(
      fc.property(fc.array(denied, { minLength: 2, maxLength: 12 }), (all) => {
        for (const each of all) {
          expect(words(repeated(each))).toEqual(words(denialError(each.denial, rules[each.plan] ?? [])));
        }
      }),
      { numRuns: 400 },
    );
  });

  it("says it also where the two differ in one thing alone", () => {
    fc.assert(
      fc.property(denied, denied, (one, other) => {
        for (const denial of changedInOne(one.denial, other.denial)) {
          repeated(one);
          const changed = { ...one, denial };
          if (isAdmitted(denial)) continue;
          expect(words(repeated(changed))).toEqual(words(denialError(denial, rules[one.plan] ?? [])));
        }
        repeated(one);
        const elsewhere = { ...one, plan: other.plan };
        expect(words(repeated(elsewhere))).toEqual(words(denialError(one.denial, rules[other.plan] ?? [])));
      }),
      { numRuns: 200 },
    );
  });

  it("is the same error within a second, and another one for another account", () => {
    const own = { ...limits };
    const error = denials.of(deniedBySession(start, start + 60_000), own, undefined);
    expect(denials.of(deniedBySession(start, start + 60_000), own, undefined)).toBe(error);
    expect(denials.of(deniedBySession(start + 999, start + 60_000), own, undefined)).toBe(error);
    expect(denials.of(deniedBySession(start + 1000, start + 60_000), own, undefined)).not.toBe(error);
    expect(denials.of(deniedBySession(start, start + 60_000), { ...limits }, undefined)).not.toBe(error);
  });

  it("is the same error within a second, while no session is open, so that its end moves", () => {
    const own = { ...limits };
    const error = denials.of(deniedBySession(start + 1, start + 1 + 3_600_000), own, undefined);
    expect(denials.of(deniedBySession(start + 1000, start + 1000 + 3_600_000), own, undefined)).toBe(error);
    expect(denials.of(deniedBySession(start + 1001, start + 1001 + 3_600_000), own, undefined)).not.toBe(error);
  });
});

/** The first denial, each time with one thing as it is in the second. */
function changedInOne(one: DeniedReservation, other: DeniedReservation): DeniedReservation[] {
  const members = (Object.keys(one) as (keyof DeniedReservation)[]).map((name) => ({ ...one, [name]: other[name] }));
  const states = (["session", "week", "month"] as const).flatMap((window) =>
    (Object.keys(one.windows[window]) as (keyof WindowState)[]).map((name) => ({
      ...one,
      windows: { ...one.windows, [window]: { ...one.windows[window], [name]: other.windows[window][name] } },
    })),
  );
  return [...members, ...states];
}

function isAdmitted({ blocked, blockedCaps = [], blockedRates = [] }: DeniedReservation): boolean {
  return blocked.length + blockedCaps.length + blockedRates.length === 0;
}
