import { dayMs } from "../../../ledger/calendar.js";

export const quarterMs = dayMs / 96;

/** From when on there are sums over all accounts by the quarter of an hour, and of which days not. */
export interface KeptQuarters {
  /** Epoch milliseconds. */
  readonly from: number;
  /** Days since 1970 of which some tags are not known, in ascending order. */
  readonly untagged: readonly number[];
}

/**
 * Where to read each part of some periods: in sums of whole quarters, else in those of whole days, and the rest in the
 * journal. Parts that follow each other are one span, even of two periods.
 *
 * @param kept - `undefined`: accounts are told apart, so the quarters do not help.
 */
export function splitPeriods(periods: readonly number[], kept: KeptQuarters | undefined): UsageSpans {
  const spans = { quarters: [] as TimeSpan[], days: [] as TimeSpan[], parts: [] as TimeSpan[] };
  for (const [place, from] of periods.slice(0, -1).entries()) {
    for (const { since, until, isKept } of cut({ since: from, until: periods[place + 1] as number }, kept)) {
      addUnits(isKept ? spans.quarters : spans.days, spans.parts, { since, until }, isKept ? quarterMs : dayMs);
    }
  }
  return spans;
}

interface Cut extends TimeSpan {
  readonly isKept: boolean;
}

/** Cuts a period where the sums by the quarter begin, and around days of which they do not know all tags. */
function cut({ since, until }: TimeSpan, kept: KeptQuarters | undefined): readonly Cut[] {
  if (kept === undefined) return [{ since, until, isKept: false }];
  const cuts: Cut[] = [];
  let at = since;
  const goTo = (end: number, isKept: boolean): void => {
    const next = Math.min(Math.max(at, end), until);
    if (at < next) cuts.push({ since: at, until: next, isKept });
    at = next;
  };
  goTo(Math.ceil(kept.from / dayMs) * dayMs, false);
  for (const day of kept.untagged) {
    goTo(day * dayMs, true);
    if (at < (day + 1) * dayMs) goTo((day + 1) * dayMs, false);
  }
  goTo(until, true);
  return cuts;
}

function addUnits(whole: TimeSpan[], parts: TimeSpan[], { since, until }: TimeSpan, unit: number): void {
  const [first, last] = [Math.ceil(since / unit) * unit, Math.floor(until / unit) * unit];
  if (first >= last) {
    addSpan(parts, since, until);
    return;
  }
  addSpan(parts, since, first);
  addSpan(whole, first, last);
  addSpan(parts, last, until);
}

function addSpan(spans: TimeSpan[], since: number, until: number): void {
  const last = spans.at(-1);
  if (since >= until) return;
  if (last?.until === since) spans[spans.length - 1] = { since: last.since, until };
  else spans.push({ since, until });
}

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
interface DividedDays {
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

/** A range of time, in epoch milliseconds. The end is exclusive. */
export interface TimeSpan {
  readonly since: number;
  readonly until: number;
}

/** Where usage is read: in sums over all accounts by the quarter of an hour, in sums by the day, and in the journal. */
interface UsageSpans {
  readonly quarters: readonly TimeSpan[];
  readonly days: readonly TimeSpan[];
  readonly parts: readonly TimeSpan[];
}
