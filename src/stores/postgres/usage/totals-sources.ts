import { dayMs } from "../../../ledger/calendar.js";
import { costTag } from "../../../prices/tags.js";
import { type DayPart, quarterMs, type TimeSpan } from "./split-periods.js";
import { unitColumns, unitPairs } from "./unit-columns.js";

/** What is added up beside calls and credits: the columns of sums, and the tags of entries. */
export const counts = ["input", "cached_input", "cache_write", "output", "reasoning", ...unitColumns, "cost"];
const tokenTags = ["input", "cachedInput", "cacheWrite", "output", "reasoning"];
const countTags = [...tokenTags, ...unitPairs.map(([, tag]) => tag), costTag];

/** What is read of each source, and where. */
export interface Source {
  /** What a dimension is in a sum, and in an entry of the journal. */
  readonly expressions: readonly (readonly [ofSum: string, ofEntry: string])[];
  /** A condition, or nothing. */
  readonly ofAccounts: string;
  readonly hasTags: boolean;
}

/** Read once, and not for each row. */
const moments = "(select $1::text::bigint[])";
const isUsed = "kind in ('charge', 'checkpoint', 'release')";
const isKept = `day * ${dayMs}::bigint > (select dropped_until from infergate.retention)`;
const untaggedDays = `
    select distinct account, day from infergate.usage_sum where tags is null and ${isKept}`;

/** Where some tags are not known after all, the period is -1. */
export function ofQuarters({ expressions, hasTags }: Source, quarters: readonly TimeSpan[]): string {
  const period = `width_bucket(quarter * ${quarterMs}::bigint, ${moments}) - 1`;
  return /* sql */ `select ${hasTags ? `case when tags is null then -1 else ${period} end` : period} as period,
    ${listed(expressions, 0)} requests, micro, ${counts.join(", ")}, costed
  from infergate.usage_quarter where ${isWithin("quarter", quarters, quarterMs)}`;
}

export function ofSums({ expressions, ofAccounts, hasTags }: Source, days: readonly TimeSpan[]): string {
  // Days of which the journal alone knows all tags.
  const isTagged = hasTags ? `and (account, day) not in (${untaggedDays})` : "";
  return /* sql */ `select width_bucket(day * ${dayMs}::bigint, ${moments}) - 1 as period, ${listed(expressions, 0)}
    requests, micro, ${counts.join(", ")}, costed
  from infergate.usage_sum where ${isWithin("day", days, dayMs)} ${ofAccounts} ${isTagged}`;
}

export function ofUntagged({ expressions, ofAccounts }: Source, days: readonly TimeSpan[]): string {
  return usedIn(
    expressions,
    `from (${untaggedDays} ${ofAccounts} and ${isWithin("day", days, dayMs)}) as untagged
      join infergate.entry using (account)
      where at >= day * ${dayMs}::bigint and at < (day + 1) * ${dayMs}::bigint and ${isUsed}`,
  );
}

export function ofEntries({ expressions }: Source, parts: readonly TimeSpan[]): string {
  return usedIn(expressions, `from infergate.entry where ${isWithin("at", parts)} and ${isUsed}`);
}

/**
 * Of some accounts: slices of their busy days that are in one period each, and the entries between these.
 *
 * @param accounts - SQL that lists them.
 */
export function ofSlices(
  { expressions, hasTags }: Source,
  parts: readonly TimeSpan[],
  accounts: string,
): readonly string[] {
  const spans = parts.map(({ since, until }) => `(${since}::bigint, ${until}::bigint)`).join(", ");
  const bucket = (moment: string) => `width_bucket(${moment}, ${moments})`;
  const sliced = /* sql */ `
    select slice.*, part.begun, ${bucket("since")} - 1 as period
    from (values ${spans}) as part (begun, ended), (
      select account, day from infergate.usage_sum
      where account in ${accounts} and ${isKept} and ${isWithin("day", parts.map(daysAround), dayMs)}
      group by account, day having bool_and(sliced ${hasTags ? "and tags is not null" : ""})
    ) as sliced join infergate.usage_slice as slice using (account, day)
    where since >= begun and until <= ended and ${bucket("since")} = ${bucket("until - 1")}`;
  const gaps = /* sql */ `
    select account, begun, ended from (
      select account, until as begun, lead(since) over (partition by account, part order by since, until) as ended
      from (
        select distinct account, begun as part, since, until from (${sliced}) as slice
        union all
        select account, begun, edge, edge
        from (select distinct account from ${accounts} as named (account)) as named,
          (values ${spans}) as part (begun, ended), unnest(array[begun, ended]) as edge
      ) as edge
    ) as gap
    where begun < ended`;
  return [
    `select period, ${listed(expressions, 0)} requests, micro, ${counts.join(", ")}, costed from (${sliced}) as slice`,
    usedIn(
      expressions,
      `from (${gaps}) as gap, lateral (
        -- Behind this fence each gap is read by the index, whatever the statistics say.
        select * from infergate.entry where account = gap.account and at >= begun and at < ended and ${isUsed}
        offset 0
      ) as entry`,
    ),
  ];
}

/** A query of whether days of accounts have running totals, named `known`. It is read once, however often it is named. */
export function knownDays({ hasTags }: Source, parts: readonly DayPart[]): string {
  const days = [...new Set(parts.map(({ day }) => day))];
  return /* sql */ `known as materialized (
    select account, day, ${isKept} and bool_and(running ${hasTags ? "and tags is not null" : ""}) as has_running
    from infergate.usage_sum where day in (${days.join(", ")}) group by account, day
  )`;
}

/**
 * Parts of days of all accounts: differences of their running totals, and the entries of those that have none.
 *
 * @param parts - of {@link knownDays}, in ascending order.
 */
export function ofDayParts({ expressions }: Source, parts: readonly DayPart[]): readonly string[] {
  const cells = parts.map(
    ({ period, day, begun, ended }) => `(${day}, ${period}, ${begun - 1}::smallint, ${ended - 1}::smallint)`,
  );
  const [calls, ...others] = ["requests", "micro", ...counts].map(
    (count) => `coalesce(${count}[high], 0)::bigint - coalesce(${count}[low], 0) as ${count}`,
  );
  const spans = parts.map(({ day, begun, ended }) => {
    return `(${day}, ${day * dayMs + begun * quarterMs}::bigint, ${day * dayMs + ended * quarterMs}::bigint)`;
  });
  return [
    /* sql */ `select period, ${listed(expressions, 0)} ${[calls, ...others].join(", ")},
      case when costed is null then coalesce(micro[high], 0) - coalesce(micro[low], 0)
        else coalesce(costed[high], 0) - coalesce(costed[low], 0) end as costed
    from known join infergate.usage_running using (account, day)
      join (values ${cells.join(", ")}) as part (day, period, before, last) using (day),
      -- Each is looked for once.
      lateral (select width_bucket(before, quarters) as low, width_bucket(last, quarters) as high offset 0) as place
    where has_running and low < high`,
    usedIn(
      expressions,
      `from known join (values ${spans.join(", ")}) as part (day, since, until) using (day), lateral (
        -- Behind this fence each part is read by the index, whatever the statistics say.
        select * from infergate.entry
        where entry.account = known.account and at >= since and at < until and ${isUsed} and not has_running
        offset 0
      ) as entry`,
    ),
  ];
}

/** The numbers are the spans' own: with them, PostgreSQL can tell how much there is. */
function isWithin(column: string, spans: readonly TimeSpan[], unit = 1): string {
  const conditions = spans.map(({ since, until }) => `${column} >= ${since / unit} and ${column} < ${until / unit}`);
  return `(${conditions.join(" or ") || "false"})`;
}

function daysAround({ since, until }: TimeSpan): TimeSpan {
  return { since: Math.floor(since / dayMs) * dayMs, until: Math.ceil(until / dayMs) * dayMs };
}

/** One that the plan and prepaid credits paid together is there twice. The plan's part has the call and its tokens. */
function usedIn(expressions: Source["expressions"], from: string): string {
  const numbers = countTags.map((tag, index) => {
    return `case when is_call then infergate.count_of(tags, '${tag}') else 0 end as ${counts[index]}`;
  });
  return /* sql */ `select period, ${listed(expressions, 1)} requests, micro, ${counts.join(", ")},
    case when tags ? '${costTag}' then micro else 0 end as costed
  from (
    select *, case when kind = 'charge' and is_call then 1 else 0 end as requests,
      case when share is null then amount when is_call then amount - share else share end as micro, ${numbers.join(", ")},
      not is_call or (starts[1] is null and starts[2] is null and starts[3] is null) as by_prepaid
    from (
      select width_bucket(at, ${moments}) - 1 as period, entry.account, kind, amount, entry.prepaid as share, starts,
        entry.tags, unnest(case when entry.prepaid is null then '{t}'::boolean[] else '{t,f}' end) as is_call
      ${from}
    ) as entered
  ) as entered`;
}

function listed(expressions: Source["expressions"], source: 0 | 1): string {
  return expressions.map((expression, index) => `${expression[source]} as by_${index}, `).join("");
}
