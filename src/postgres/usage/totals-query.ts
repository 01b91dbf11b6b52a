import { mostTotals } from "../../ledger/usage/most-totals.js";
import type { PeriodTotal, TotalsRequest } from "../../ledger/usage/usage-totals.js";
import { dayMs } from "../../ledger/windows.js";
import { journalTagPrefix } from "../../metering/tags.js";

/** A row of {@link totalsQuery}: the period, what is alike, and then what it adds up to. */
export type StoredTotal = readonly (string | number | null)[];

interface Span {
  readonly since: number;
  readonly until: number;
}

/** What a dimension is in a sum, and in an entry of the journal. */
const columns: Readonly<Record<string, readonly [ofSum: string, ofEntry: string]>> = {
  account: ["account", "account"],
  plan: ["plan", "infergate.text_of(tags, 'plan')"],
  model: ["model", "infergate.text_of(tags, 'model')"],
  target: ["target", "infergate.text_of(tags, 'target')"],
  key: ["key_id", "infergate.text_of(tags, 'keyId')"],
  funding: ["case when prepaid then 'prepaid' else 'plan' end", "case when by_prepaid then 'prepaid' else 'plan' end"],
};

const counts = ["input", "cached_input", "cache_write", "output", "reasoning"];
const countTags = ["input", "cachedInput", "cacheWrite", "output", "reasoning"];
const oneOf = (place: number) => `(select jsonb_array_elements_text($${place}::text::jsonb))`;

/** Whole days come from the sums, and the rest from the journal. */
export function totalsQuery(request: TotalsRequest): { sql: string; values: string[] } {
  const { periods, by, where } = request;
  const { days, parts } = splitPeriods(periods);
  const values = [arrayOf(periods)];
  const place = (value: string): number => values.push(value);
  const names = [...new Set([...by, ...Object.keys(where)])];
  const expressions = names.map((name) => columns[name] ?? ofTag(place(name)));
  const alias = (name: string): string => `by_${names.indexOf(name)}`;
  const conditions = Object.entries(where).map(([name, listed]) => {
    const texts = place(JSON.stringify(listed.filter((value) => value !== null)));
    const isListed = `${alias(name)} in ${oneOf(texts)}`;
    return listed.includes(null) ? `(${isListed} or ${alias(name)} is null)` : isListed;
  });
  const { account } = where;
  // An index finds it. What is null is no account.
  const ofAccounts = account && `and account in ${oneOf(place(JSON.stringify(account.filter((id) => id !== null))))}`;
  const of: Source = { expressions, ofAccounts: ofAccounts ?? "" };
  const hasTags = names.some((name) => name.startsWith(journalTagPrefix));
  const sources = [
    ...(days.length > 0 ? [ofSums(of, days, hasTags)] : []),
    ...(days.length > 0 && hasTags ? [ofUntagged(of, days)] : []),
    ...(parts.length > 0 || days.length === 0 ? [ofEntries(of, parts)] : []),
  ];
  const group = ["period", ...by.map(alias)].join(", ");
  const sql = /* sql */ `
select jsonb_build_array(
  ${group}, sum(requests), sum(micro), ${counts.map((count) => `sum(${count})`).join(", ")}
)::text as json
from (${sources.join(" union all ")}) as used
${conditions.length > 0 ? `where ${conditions.join(" and ")}` : ""}
group by ${group}
having sum(requests) <> 0 or sum(micro) <> 0
limit ${mostTotals + 1}`;
  return { sql, values };
}

/** @param row - of {@link totalsQuery}. */
export function toPeriodTotal(row: StoredTotal, { by }: TotalsRequest): PeriodTotal {
  const [requests = 0, chargedMicro = 0, input = 0, cachedInput = 0, cacheWrite = 0, output = 0, reasoning = 0] = row
    .slice(1 + by.length)
    .map(Number);
  return {
    period: Number(row[0]),
    by: row.slice(1, 1 + by.length) as (string | null)[],
    requests,
    chargedMicro,
    tokens: { input, cachedInput, ...(cacheWrite !== 0 && { cacheWrite }), output, reasoning },
  };
}

function ofTag(place: number): readonly [ofSum: string, ofEntry: string] {
  return [`tags->>$${place}::text`, `infergate.text_of(tags, $${place}::text)`];
}

/** Read once, and not for each row. */
const moments = "(select $1::text::bigint[])";
const untaggedDays = `
    select distinct account, day from infergate.usage_sum
    where tags is null and day * ${dayMs}::bigint > (select dropped_until from infergate.retention)`;

interface Source {
  readonly expressions: Expressions;
  /** A condition, or nothing. */
  readonly ofAccounts: string;
}

/** The numbers are the spans' own: with them, PostgreSQL can tell how much there is. */
function isWithin(column: string, spans: readonly Span[], unit = 1): string {
  const conditions = spans.map(({ since, until }) => `${column} >= ${since / unit} and ${column} < ${until / unit}`);
  return `(${conditions.join(" or ") || "false"})`;
}

function ofSums({ expressions, ofAccounts }: Source, days: readonly Span[], hasTags: boolean): string {
  // Days of which the journal alone knows all tags.
  const isTagged = hasTags ? `and (account, day) not in (${untaggedDays})` : "";
  return /* sql */ `select width_bucket(day * ${dayMs}::bigint, ${moments}) - 1 as period, ${listed(expressions, 0)}
    requests, micro, ${counts.join(", ")}
  from infergate.usage_sum where ${isWithin("day", days, dayMs)} ${ofAccounts} ${isTagged}`;
}

function ofEntries({ expressions, ofAccounts }: Source, parts: readonly Span[]): string {
  const isUsed = "kind in ('charge', 'checkpoint', 'release')";
  return usedIn(expressions, `from infergate.entry where ${isWithin("at", parts)} and ${isUsed} ${ofAccounts}`);
}

function ofUntagged({ expressions, ofAccounts }: Source, days: readonly Span[]): string {
  return usedIn(
    expressions,
    `from (${untaggedDays} ${ofAccounts} and ${isWithin("day", days, dayMs)}) as untagged
      join infergate.entry using (account)
      where at >= day * ${dayMs}::bigint and at < (day + 1) * ${dayMs}::bigint and kind in ('charge', 'checkpoint', 'release')`,
  );
}

/** One that the plan and prepaid credits paid together is there twice. The plan's part has the call and its tokens. */
function usedIn(expressions: Expressions, from: string): string {
  const numbers = countTags.map((tag, index) => {
    return `case when is_call then infergate.count_of(tags, '${tag}') else 0 end as ${counts[index]}`;
  });
  return /* sql */ `select period, ${listed(expressions, 1)}
    case when kind = 'charge' and is_call then 1 else 0 end as requests,
    case when share is null then amount when is_call then amount - share else share end as micro, ${numbers.join(", ")}
  from (
    select *, not is_call or (starts[1] is null and starts[2] is null and starts[3] is null) as by_prepaid
    from (
      select width_bucket(at, ${moments}) - 1 as period, account, kind, amount, entry.prepaid as share, starts,
        entry.tags, unnest(case when entry.prepaid is null then '{t}'::boolean[] else '{t,f}' end) as is_call
      ${from}
    ) as entered
  ) as entered`;
}

type Expressions = readonly (readonly [ofSum: string, ofEntry: string])[];

function listed(expressions: Expressions, source: 0 | 1): string {
  return expressions.map((expression, index) => `${expression[source]} as by_${index}, `).join("");
}

/** The whole days of UTC that are in one period each, and the rest. Those that follow each other are one span. */
function splitPeriods(periods: readonly number[]): { days: readonly Span[]; parts: readonly Span[] } {
  const days: Span[] = [];
  const parts: Span[] = [];
  for (const [place, from] of periods.slice(0, -1).entries()) {
    const to = periods[place + 1] as number;
    const [since, until] = [Math.ceil(from / dayMs) * dayMs, Math.floor(to / dayMs) * dayMs];
    if (since >= until) {
      addSpan(parts, from, to);
      continue;
    }
    addSpan(parts, from, since);
    addSpan(days, since, until);
    addSpan(parts, until, to);
  }
  return { days, parts };
}

function addSpan(spans: Span[], since: number, until: number): void {
  const last = spans.at(-1);
  if (since >= until) return;
  if (last?.until === since) spans[spans.length - 1] = { since: last.since, until };
  else spans.push({ since, until });
}

function arrayOf(numbers: readonly number[]): string {
  return `{${numbers.join(",")}}`;
}
