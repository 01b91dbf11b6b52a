import { dayMs } from "../../ledger/windows.js";
import { quarterMs } from "./split-periods.js";
import type { TimeSpan } from "./usage-spans.js";

/** Quarters of an hour of a day that are in one period. The end is exclusive. */
export interface DayPart {
  readonly period: number;
  /** Since 1970. */
  readonly day: number;
  /** Of the day. */
  readonly begun: number;
  readonly ended: number;
}

/** What of some parts is whole quarters of an hour. */
export interface DividedDays {
  readonly ofDays: readonly DayPart[];
  readonly rest: readonly TimeSpan[];
}

/** @param parts - in ascending order, without what the periods do not have. */
export function divideDays(parts: readonly TimeSpan[], periods: readonly number[]): DividedDays {
  const [ofDays, rest]: [DayPart[], TimeSpan[]] = [[], []];
  let period = 0;
  for (const { since, until } of parts) {
    for (let at = since; at < until; ) {
      while ((periods[period + 1] as number) <= at) period++;
      const day = Math.floor(at / dayMs);
      const end = Math.min(until, periods[period + 1] as number, (day + 1) * dayMs);
      const [begun, ended] = [Math.ceil(at / quarterMs), Math.floor(end / quarterMs)];
      const whole = begun < ended;
      if (whole) ofDays.push({ period, day, begun: begun - day * 96, ended: ended - day * 96 });
      const around = whole ? [at, begun * quarterMs, ended * quarterMs, end] : [at, end, end, end];
      const [first, firstEnd, last, lastEnd] = around as [number, number, number, number];
      if (first < firstEnd) rest.push({ since: first, until: firstEnd });
      if (last < lastEnd) rest.push({ since: last, until: lastEnd });
      at = end;
    }
  }
  return { ofDays, rest };
}
