import fc from "fast-check";
import { expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { currentStates, type Instances, newInstance, noInstances } from "../../../src/ledger/rules/windows.js";
import { LiveStates, statesNow } from "../../../src/ledger/window-states.js";

const start = Date.UTC(2026, 2, 11);
const hourMs = 3_600_000;
const instance = fc
  .record({ hours: fc.integer({ min: -900, max: 900 }), length: fc.integer({ min: 1, max: 800 }), counts: fc.nat(99) })
  .map(({ hours, length, counts }) => {
    const at = start + hours * hourMs;
    return { ...newInstance(at, at + length * hourMs), used: counts, held: counts * 2, bonus: 50 - counts };
  });
const instances = fc.oneof(
  fc.constant<Readonly<Instances>>(noInstances),
  fc.record({ session: instance, week: instance, month: instance }),
);
const limit = fc.option(fc.nat(500));
const credits = fc.record({ session: limit, week: limit, month: limit });

it("are what copies of them are, and the least of them is the least of the copies", () => {
  const measure = (left: number, held: number) => left / 16 - held;
  fc.assert(
    fc.property(instances, credits, fc.integer({ min: -900, max: 900 }), (known, limited, hours) => {
      const limits = windowLimits({ credits: limited, sessionMs: hourMs, now: start });
      const now = start + hours * hourMs;
      const live = new LiveStates(known, limits, now);
      const copied = currentStates(known, limits, now);
      expect(statesNow(live)).toEqual(copied);
      const measured = Object.values(copied).map(({ limitMicro, bonusMicro, usedMicro, heldMicro }) =>
        limitMicro === null ? Number.POSITIVE_INFINITY : measure(limitMicro + bonusMicro - usedMicro, heldMicro),
      );
      expect(live.least(measure)).toBe(Math.min(...measured));
    }),
  );
});

it("show what has changed since", () => {
  const known = { ...noInstances, week: newInstance(start, start + 7 * 24 * hourMs) };
  const limits = windowLimits({ credits: { session: 9, week: 9, month: 9 }, sessionMs: hourMs, now: start });
  const live = new LiveStates(known, limits, start);
  known.week.used = 5;
  expect(live.week.usedMicro).toBe(5);
});
