import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Calendar, windowLimits } from "../../../src/ledger/calendar.js";

const day = 86_400_000;
const week = 7 * day;
const credits = { session: 1, week: 2, month: null };
const utc = (iso: string) => Date.parse(`${iso}Z`);

function bounds(window: "week" | "month", now: string | number, anchor?: string | number): readonly string[] {
  const at = (moment: string | number) => (typeof moment === "number" ? moment : utc(moment));
  const limits = windowLimits({
    credits,
    sessionMs: 1,
    now: at(now),
    anchor: anchor === undefined ? undefined : at(anchor),
  });
  return limits[window].bounds.map((bound) => new Date(bound).toISOString().replace(/:00\.000Z$/, ""));
}

describe("windowLimits", () => {
  it("carries the plan's limits and the session's length", () => {
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: utc("2026-03-11T09:30") });
    expect(limits).toMatchObject({
      session: { limitMicro: 1, lengthMs: 18_000_000 },
      week: { limitMicro: 2 },
      month: { limitMicro: null },
    });
  });

  describe("weeks", () => {
    it("begin on Mondays by default", () => {
      const around = ["2026-03-02T00:00", "2026-03-09T00:00", "2026-03-16T00:00", "2026-03-23T00:00"];
      expect(bounds("week", "2026-03-11T09:30")).toEqual(around);
      expect(bounds("week", "2026-03-09T00:00")).toEqual(around);
      expect(bounds("week", "2026-03-15T23:59:59.999")).toEqual(around);
      expect(bounds("week", "2026-03-16T00:00")[1]).toBe("2026-03-16T00:00");
    });

    it("begin at the anchor's weekday and time of day", () => {
      expect(bounds("week", "2026-03-11T09:30", "2024-02-29T06:15")).toEqual([
        "2026-02-26T06:15",
        "2026-03-05T06:15",
        "2026-03-12T06:15",
        "2026-03-19T06:15",
      ]);
    });
  });

  describe("months", () => {
    it("begin on the first by default", () => {
      const around = ["2026-02-01T00:00", "2026-03-01T00:00", "2026-04-01T00:00", "2026-05-01T00:00"];
      expect(bounds("month", "2026-03-11T09:30")).toEqual(around);
      expect(bounds("month", "2026-03-01T00:00")).toEqual(around);
      expect(bounds("month", "2026-03-31T23:59:59.999")).toEqual(around);
      expect(bounds("month", "2026-04-01T00:00")[1]).toBe("2026-04-01T00:00");
    });

    it("keep to the anchor's day, cut to the month's length", () => {
      expect(bounds("month", "2026-02-28T05:59:59.999", "2026-01-31T06:00")).toEqual([
        "2025-12-31T06:00",
        "2026-01-31T06:00",
        "2026-02-28T06:00",
        "2026-03-31T06:00",
      ]);
      expect(bounds("month", "2026-02-28T06:00", "2026-01-31T06:00")).toEqual([
        "2026-01-31T06:00",
        "2026-02-28T06:00",
        "2026-03-31T06:00",
        "2026-04-30T06:00",
      ]);
    });

    it("know leap years", () => {
      expect(bounds("month", "2028-02-29T12:00", "2026-01-31T06:00").slice(0, 3)).toEqual([
        "2028-01-31T06:00",
        "2028-02-29T06:00",
        "2028-03-31T06:00",
      ]);
      expect(bounds("month", "2027-03-01T00:00", "2024-02-29T00:00")).toEqual([
        "2027-01-29T00:00",
        "2027-02-28T00:00",
        "2027-03-29T00:00",
        "2027-04-29T00:00",
      ]);
    });

    it("cross the year", () => {
      expect(bounds("month", "2026-12-31T12:00", "2026-01-31T06:00")).toEqual([
        "2026-11-30T06:00",
        "2026-12-31T06:00",
        "2027-01-31T06:00",
        "2027-02-28T06:00",
      ]);
      expect(bounds("month", "2027-01-01T00:00")[1]).toBe("2027-01-01T00:00");
    });

    it("take anchors in the future and the far past", () => {
      const around = ["2026-01-31T06:00", "2026-02-28T06:00", "2026-03-31T06:00", "2026-04-30T06:00"];
      for (const anchor of ["2099-12-31T06:00", "1969-12-31T06:00", "1601-01-31T06:00"]) {
        expect(bounds("month", "2026-03-11T09:30", anchor)).toEqual(around);
      }
    });
  });

  /** The k-th boundary after the anchor, by walking a calendar. */
  function boundaryAfter(anchor: number, months: number): number {
    const date = new Date(anchor);
    const wanted = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + months);
    const month = date.getUTCMonth();
    date.setUTCDate(wanted);
    if (date.getUTCMonth() !== month) date.setUTCDate(0);
    return date.getTime();
  }

  const moment = fc.integer({ min: utc("1901-01-01T00:00"), max: utc("2199-01-01T00:00") });

  it("lie around now, one window apart, all counted from the anchor", () => {
    fc.assert(
      fc.property(moment, fc.integer({ min: utc("1970-01-01T00:00"), max: utc("2199-01-01T00:00") }), (anchor, now) => {
        const limits = windowLimits({ credits, sessionMs: 1, anchor, now });
        const [before, from, to, after] = limits.week.bounds;
        expect(from <= now && now < to).toBe(true);
        expect([from - before, to - from, after - to]).toEqual([week, week, week]);
        expect(Math.abs(from - anchor) % week).toBe(0);

        const { bounds: months } = limits.month;
        expect(months[1] <= now && now < months[2]).toBe(true);
        const first = Math.round((months[0] - anchor) / (30.436_875 * day));
        expect(months).toEqual([0, 1, 2, 3].map((step) => boundaryAfter(anchor, first + step)));
      }),
      { numRuns: 1_000 },
    );
  });

  it("agree across a boundary: each bound is one of the next interval's too", () => {
    fc.assert(
      fc.property(moment, moment, (anchor, now) => {
        for (const window of ["week", "month"] as const) {
          const { bounds: here } = windowLimits({ credits, sessionMs: 1, anchor, now })[window];
          const { bounds: next } = windowLimits({ credits, sessionMs: 1, anchor, now: here[2] })[window];
          expect(next.slice(0, 3)).toEqual(here.slice(1));
          const { bounds: last } = windowLimits({ credits, sessionMs: 1, anchor, now: here[2] - 1 })[window];
          expect(last).toEqual(here);
        }
      }),
    );
  });
});

describe("Calendar", () => {
  it("tells the same limits as windowLimits, at any moments, and the same object while nothing has changed", () => {
    const plans = [
      { session: 1, week: 2, month: 3 },
      { session: null, week: 5, month: null },
    ] as const;
    fc.assert(
      fc.property(
        fc.option(fc.nat(400 * day), { nil: undefined }),
        fc.array(fc.tuple(fc.nat(400 * day), fc.constantFrom(...plans), fc.constantFrom(1_000, 2_000)), {
          maxLength: 20,
        }),
        (anchor, asked) => {
          const calendar = new Calendar(anchor);
          for (const [now, credits, sessionMs] of asked) {
            const limits = calendar.limits(credits, sessionMs, now);
            expect(limits).toEqual(windowLimits({ credits, sessionMs, now, ...(anchor !== undefined && { anchor }) }));
            expect(calendar.limits(credits, sessionMs, now)).toBe(limits);
          }
        },
      ),
    );
  });

  it("begins a week and a month at their first millisecond", () => {
    const calendar = new Calendar(undefined);
    // A Monday, and a first of the month.
    for (const moment of [Date.UTC(2026, 2, 16), Date.UTC(2026, 3, 1)]) {
      for (const now of [moment - 1, moment]) {
        expect(calendar.limits(credits, 1_000, now)).toEqual(windowLimits({ credits, sessionMs: 1_000, now }));
      }
    }
  });
});
