import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Every, periodNamer, splitTime } from "../../../../src/gateway/usage/split-time.js";
import { turnsOf } from "../../../support/turns-of.js";

const hour = 3_600_000;
const latest = 8.64e15;
const quarter = hour / 4;
const most = 100_000;

async function split(zone: string, every: Every, from: string, to: string): Promise<[name: string, hours: number][]> {
  const range = { from: Date.parse(from), to: Date.parse(to) };
  const moments = (await splitTime(range, { every, timeZone: zone, most })) ?? [];
  const nameOf = periodNamer({ every, timeZone: zone });
  return moments.slice(0, -1).map((moment, place) => {
    return [nameOf(moment), ((moments[place + 1] as number) - moment) / hour];
  });
}

describe("a time, split by days", () => {
  it("has the days of a time zone that is half an hour aside", async () => {
    expect(await split("Asia/Kolkata", "day", "2026-03-10T18:30Z", "2026-03-12T18:30Z")).toEqual([
      ["2026-03-11", 24],
      ["2026-03-12", 24],
    ]);
    expect(await split("Asia/Kathmandu", "day", "2026-03-10T18:15Z", "2026-03-11T18:15Z")).toEqual([
      ["2026-03-11", 24],
    ]);
  });

  it("has days of 23 and of 25 hours where clocks are set", async () => {
    expect(await split("Europe/Berlin", "day", "2026-03-27T23:00Z", "2026-03-30T22:00Z")).toEqual([
      ["2026-03-28", 24],
      ["2026-03-29", 23],
      ["2026-03-30", 24],
    ]);
    expect(await split("Europe/Berlin", "day", "2026-10-24T22:00Z", "2026-10-26T23:00Z")).toEqual([
      ["2026-10-25", 25],
      ["2026-10-26", 24],
    ]);
    // By half an hour.
    expect(await split("Australia/Lord_Howe", "day", "2026-04-03T13:00Z", "2026-04-05T13:30Z")).toEqual([
      ["2026-04-04", 24],
      ["2026-04-05", 24.5],
    ]);
  });

  it("has days that begin at one o'clock, and one that is left out", async () => {
    expect(await split("America/Santiago", "day", "2026-09-05T04:00Z", "2026-09-07T03:00Z")).toEqual([
      ["2026-09-05", 24],
      ["2026-09-06", 23],
    ]);
    expect(await split("America/Santiago", "day", "2026-04-04T03:00Z", "2026-04-05T04:00Z")).toEqual([
      ["2026-04-04", 25],
    ]);
    expect(await split("Pacific/Apia", "day", "2011-12-29T10:00Z", "2011-12-31T10:00Z")).toEqual([
      ["2011-12-29", 24],
      ["2011-12-31", 24],
    ]);
  });

  it("begins and ends where it is asked to", async () => {
    expect(await split("UTC", "day", "2026-03-10T18:00Z", "2026-03-12T06:00Z")).toEqual([
      ["2026-03-10", 6],
      ["2026-03-11", 24],
      ["2026-03-12", 6],
    ]);
    expect(await split("UTC", "day", "2026-03-10T18:00Z", "2026-03-10T18:00Z")).toEqual([["2026-03-10", 0]]);
  });
});

describe("a time, split by hours", () => {
  it("has the hours of a time zone that is half an hour aside", async () => {
    expect(await split("Asia/Kolkata", "hour", "2026-03-11T00:00Z", "2026-03-11T02:00Z")).toEqual([
      ["2026-03-11T05:30", 0.5],
      ["2026-03-11T06:00", 1],
      ["2026-03-11T07:00", 0.5],
    ]);
  });

  it("tells the two hours of one name apart where clocks are put back, and has none for those that are left out", async () => {
    expect(await split("Europe/Berlin", "hour", "2026-10-24T23:00Z", "2026-10-25T03:00Z")).toEqual([
      ["2026-10-25T01:00", 1],
      ["2026-10-25T02:00", 1],
      ["2026-10-25T02:00", 1],
      ["2026-10-25T03:00", 1],
    ]);
    expect(await split("Europe/Berlin", "hour", "2026-03-29T00:00Z", "2026-03-29T02:00Z")).toEqual([
      ["2026-03-29T01:00", 1],
      ["2026-03-29T03:00", 1],
    ]);
    expect(await split("Australia/Lord_Howe", "hour", "2026-04-04T14:00Z", "2026-04-04T17:30Z")).toEqual([
      ["2026-04-05T01:00", 1],
      ["2026-04-05T01:30", 0.5],
      ["2026-04-05T02:00", 1],
      ["2026-04-05T03:00", 1],
    ]);
  });
});

describe("a time, split", () => {
  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/Santiago",
  ];

  it("has each moment in the period that clocks show then", async () => {
    const time = fc.record({
      zone: fc.constantFrom(...zones),
      every: fc.constantFrom("hour" as const, "day" as const),
      from: fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2027, 0) }),
      hours: fc.integer({ min: 1, max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(time, async ({ zone, every, from, hours }) => {
        const to = from + hours * hour;
        const of = { every, timeZone: zone };
        const moments = (await splitTime({ from, to }, { ...of, most })) as readonly number[];
        expect([moments[0], moments.at(-1)]).toEqual([from, to]);
        const nameOf = periodNamer(of);
        const wall = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
        for (const [place, begin] of moments.slice(0, -1).entries()) {
          const end = moments[place + 1] as number;
          expect(end).toBeGreaterThan(begin);
          const name = nameOf(begin)
            .slice(0, every === "day" ? 10 : 13)
            .replace("T", " ");
          for (let at = begin; at < end; at += quarter) expect(wall.format(at).startsWith(name)).toBe(true);
          expect(wall.format(end - 1).startsWith(name)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("is refused where it has too many periods, or there is no such time zone", async () => {
    const year = { from: Date.UTC(2026, 0), to: Date.UTC(2027, 0) };
    expect(await splitTime(year, { every: "hour", timeZone: "UTC", most: 1_000 })).toBeUndefined();
    expect(await splitTime(year, { every: "day", timeZone: "UTC", most: 1_000 })).toHaveLength(366);
    await expect(splitTime(year, { every: "day", timeZone: "Europe/Nowhere", most })).rejects.toThrow(RangeError);
  });
});

it("is split while other work has its turn, and not at all where it is far too long", async () => {
  const days = { from: Date.UTC(1999, 0), to: Date.UTC(1999, 0) + 9_000 * 24 * hour };
  const of = { every: "day", timeZone: "Europe/Berlin", most: 10_000 } as const;
  const { turns, result } = await turnsOf(() => splitTime(days, of));
  expect([result?.length, result?.at(-1), turns >= 80]).toEqual([9_001 + 1, days.to, true]);
  const ever = await turnsOf(() => splitTime({ from: -latest, to: latest }, of));
  expect([ever.result, ever.turns <= 2]).toEqual([undefined, true]);
});
