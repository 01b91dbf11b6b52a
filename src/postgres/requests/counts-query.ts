import type { RequestCounts } from "../../books/requests/request-log.js";
import { mostTotals } from "../../ledger/usage/most-totals.js";
import type { TotalsRequest } from "../../ledger/usage/usage-totals.js";
import { journalTagPrefix } from "../../metering/tags.js";

/** A row of {@link countsQuery}. */
export type StoredCounts = readonly (string | number | null)[];

const columns: Readonly<Record<string, string>> = {
  ...{ account: "account", plan: "plan", model: "model", target: "target", key: "key_id" },
};

/** Adds up what was counted, by the period and what is alike. */
export function countsQuery({ periods, by, where }: TotalsRequest): { sql: string; values: (string | number)[] } {
  const values: (string | number)[] = [`{${periods.join(",")}}`, periods[0] as number, periods.at(-1) as number];
  const place = (value: string): string => `$${values.push(value)}::text`;
  const expressionOf = (name: string): string => {
    if (!name.startsWith(journalTagPrefix)) return columns[name] ?? "null::text";
    return `tags->>${place(name.slice(journalTagPrefix.length))}`;
  };
  const dimensions = by.map((name, index) => `${expressionOf(name)} as by_${index}`);
  const conditions = Object.entries(where).map(([name, listed]) => {
    const expression = expressionOf(name);
    const texts = place(JSON.stringify(listed.filter((value) => value !== null)));
    const isListed = `${expression} in (select jsonb_array_elements_text(${texts}::jsonb))`;
    return listed.includes(null) ? `(${isListed} or ${expression} is null)` : isListed;
  });
  const group = ["period", ...by.map((_, index) => `by_${index}`)].join(", ");
  const sql = /* sql */ `
select jsonb_build_array(${group}, sum(refusals), sum(failures))::text as json
from (
  select ${[`width_bucket(minute, (select $1::text::bigint[])) - 1 as period`, ...dimensions].join(", ")}, refusals, failures
  from infergate.request_count
  where ${["minute >= $2::bigint", "minute < $3::bigint", ...conditions].join(" and ")}
) as counted
group by ${group} limit ${mostTotals + 1}`;
  return { sql, values };
}

export function toRequestCounts(row: StoredCounts, { by }: TotalsRequest): RequestCounts {
  const [refusals = 0, failures = 0] = row.slice(1 + by.length).map(Number);
  return { period: Number(row[0]), by: row.slice(1, 1 + by.length) as (string | null)[], refusals, failures };
}
