import { dayMs } from "../../../ledger/calendar.js";
import type { PeriodTotal, TotalsRequest, UsageRequest, UsageSum } from "../../../ledger/usage/usage-request.js";
import { dayOf, mostTotals } from "../../../ledger/usage/usage-sums.js";
import { toUsageTotal } from "../../../ledger/usage/usage-total.js";
import { journalTagPrefix, reservedTags } from "../../../prices/tags.js";
import { divideDays, type KeptQuarters, splitPeriods } from "./split-periods.js";
import {
  counts,
  knownDays,
  ofDayParts,
  ofEntries,
  ofQuarters,
  ofSlices,
  ofSums,
  ofUntagged,
  type Source,
} from "./totals-sources.js";

/** A row of {@link totalsQuery}: the period, what is alike, and then what it adds up to. */
export type StoredTotal = readonly (string | number | null)[];

/** What a dimension is in a sum, and in an entry of the journal. */
const columns: Readonly<Record<string, readonly [ofSum: string, ofEntry: string]>> = {
  account: ["account", "account"],
  plan: ["plan", "infergate.text_of(tags, 'plan')"],
  model: ["model", "infergate.text_of(tags, 'model')"],
  target: ["target", "infergate.text_of(tags, 'target')"],
  key: ["key_id", "infergate.text_of(tags, 'keyId')"],
  funding: ["case when prepaid then 'prepaid' else 'plan' end", "case when by_prepaid then 'prepaid' else 'plan' end"],
};

const oneOf = (place: number) => `(select jsonb_array_elements_text($${place}::text::jsonb))`;

/** Whether sums over all accounts know what is asked for. */
export function areOfQuarters(request: TotalsRequest): boolean {
  return !namesOf(request).some((name) => name === "account" || name === "key");
}

/** Answers {@link KeptQuarters}, as an array. */
export function keptQuartersQuery(request: TotalsRequest): { sql: string; values: number[] } {
  const days = [request.periods[0] as number, request.periods.at(-1) as number].map((at) => Math.floor(at / dayMs));
  const untagged = /* sql */ `(
    select coalesce(jsonb_agg(distinct quarter / 96), '[]') from infergate.usage_quarter
    where tags is null and quarter / 96 between $1::bigint and $2::bigint
  )`;
  const sql = /* sql */ `
select jsonb_build_array(dropped_until + 1, ${hasTags(request) ? untagged : "'[]'::jsonb"})::text as json
from infergate.retention`;
  return { sql, values: hasTags(request) ? days : [] };
}

/** Whole quarters or days come from the sums, and the rest from the journal. */
export function totalsQuery(request: TotalsRequest, kept: KeptQuarters | undefined): { sql: string; values: string[] } {
  const { periods, by, where } = request;
  const { quarters, days, parts } = splitPeriods(periods, kept);
  const values = [arrayOf(periods)];
  const place = (value: string): number => values.push(value);
  const names = namesOf(request);
  const expressions = names.map((name) => columns[name] ?? ofTag(place(name)));
  const alias = (name: string): string => `by_${names.indexOf(name)}`;
  const conditions = Object.entries(where).map(([name, listed]) => {
    const texts = place(JSON.stringify(listed.filter((value) => value !== null)));
    const isListed = `${alias(name)} in ${oneOf(texts)}`;
    return listed.includes(null) ? `(${isListed} or ${alias(name)} is null)` : isListed;
  });
  const { account } = where;
  // An index finds it. What is null is no account.
  const accounts = account && oneOf(place(JSON.stringify(account.filter((id) => id !== null))));
  const ofAccounts = accounts ? `and account in ${accounts}` : "";
  const source: Source = { expressions, ofAccounts, hasTags: hasTags(request) };
  const divided = accounts ? { ofDays: [], rest: [] } : divideDays(parts, periods);
  const sources = [
    ...(quarters.length > 0 ? [ofQuarters(source, quarters)] : []),
    ...(days.length > 0 ? [ofSums(source, days)] : []),
    ...(days.length > 0 && source.hasTags ? [ofUntagged(source, days)] : []),
    ...(parts.length > 0 && accounts ? ofSlices(source, parts, accounts) : []),
    ...(divided.ofDays.length > 0 ? ofDayParts(source, divided.ofDays) : []),
    ...(divided.rest.length > 0 ? [ofEntries(source, divided.rest)] : []),
  ];
  const shared = divided.ofDays.length > 0 ? `with ${knownDays(source, divided.ofDays)}` : "";
  const group = ["period", ...by.map(alias)].join(", ");
  const sql = /* sql */ `
${shared}
select jsonb_build_array(
  ${group}, sum(requests), sum(micro), ${[...counts, "costed"].map((count) => `sum(${count})`).join(", ")}
)::text as json
from (${sources.join(" union all ")}) as used
${conditions.length > 0 ? `where ${conditions.join(" and ")}` : ""}
group by ${group}
having sum(requests) <> 0 or sum(micro) <> 0
limit ${mostTotals + 1}`;
  return { sql, values };
}

/** Whether a quarter that the sums were to know turned out to have tags that they do not. */
export function isOutdated(row: StoredTotal): boolean {
  return row[0] === -1;
}

/** @param row - of {@link totalsQuery}. */
export function toPeriodTotal(row: StoredTotal, { by }: TotalsRequest): PeriodTotal {
  const numbers = row.slice(1 + by.length).map(Number);
  return { period: Number(row[0]), by: row.slice(1, 1 + by.length) as (string | null)[], ...toUsageTotal(numbers) };
}

function namesOf({ by, where }: TotalsRequest): readonly string[] {
  return [...new Set([...by, ...Object.keys(where)])];
}

function hasTags(request: TotalsRequest): boolean {
  return namesOf(request).some((name) => name.startsWith(journalTagPrefix));
}

function ofTag(place: number): readonly [ofSum: string, ofEntry: string] {
  return [`tags->>$${place}::text`, `infergate.text_of(tags, $${place}::text)`];
}

function arrayOf(numbers: readonly number[]): string {
  return `{${numbers.join(",")}}`;
}

/** Days before and after all that a database can have kept. */
const [earliestDay, latestDay] = [-100_000_000, 100_000_000];

/** A row of {@link usageSql}: what is alike, in the order of the names, and then what it adds up to. */
export type SumRow = readonly (string | number | null)[];

export const usageSql =
  "select used::text as json from infergate.sum_usage($1, $2, $3, $4::text::jsonb, $5::text::jsonb) as used";

export function usageValues({ account, from, to, by }: UsageRequest): (string | number)[] {
  const { first, last, parts } = splitRange(from ?? earliestDay * dayMs, to ?? latestDay * dayMs);
  const names = by.map((name) => (reservedTags.includes(name) ? name : journalTagPrefix + name));
  return [account, first, last, JSON.stringify(parts), JSON.stringify(names)];
}

interface SplitRange {
  /** The whole days, from 1970 on. */
  readonly first: number;
  /** Exclusive. */
  readonly last: number;
  /** Of the days that the range divides, two at the most. */
  readonly parts: readonly (readonly [day: number, since: number, until: number])[];
}

function splitRange(from: number, to: number): SplitRange {
  const [first, last] = [Math.ceil(from / dayMs), Math.floor(to / dayMs)];
  if (from >= to) return { first: 0, last: 0, parts: [] };
  if (last < first) return { first: 0, last: 0, parts: [[last, from, to]] };
  const ends = [
    [first - 1, from, first * dayMs],
    [last, last * dayMs, to],
  ] as const;
  return { first, last, parts: ends.filter(([, since, until]) => since < until) };
}

export function toUsageSum(row: SumRow, by: readonly string[]): UsageSum {
  const values = by.map((name, index) => (name === "day" ? dayOf(Number(row[index]) * dayMs) : row[index]));
  const counts = row.slice(by.length).map(Number);
  return {
    by: Object.fromEntries(by.map((name, index) => [name, values[index] as string | null])),
    ...toUsageTotal(counts),
  };
}
