import { requireKnownOptions } from "../../check/known-options.js";
import type { TotalsRequest } from "../../ledger/usage/usage-request.js";
import { mostTotals } from "../../ledger/usage/usage-sums.js";
import { journalTagPrefix } from "../../prices/tags.js";
import { isFailedLine, type LinePath } from "../../request-log/check-request-query.js";
import { checkedRequestLog } from "../../request-log/checked-request-log.js";
import { CountSums, faultOf } from "../../request-log/count-sums.js";
import {
  checkLogLimits,
  knownLogLimits,
  type LoggedRequest,
  type RequestCounts,
  type RequestLog,
  type RequestLogLimits,
} from "../../request-log/request-log.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "./database.js";

/** Options of {@link postgresRequestLog}. `maxRows` is 1,000,000 unless it is given. */
export interface PostgresRequestLogOptions extends PostgresOptions, RequestLogLimits {}

const rowsPerForgetting = 500;

/**
 * Logs requests in PostgreSQL. A batch is one statement, and what is beyond the limits goes with another one, some rows at a
 * time. The database's clock is the only one.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresRequestLog(options: PostgresRequestLogOptions): RequestLog {
  requireKnownOptions("postgresRequestLog", options, { ...knownPostgresOptions, ...knownLogLimits });
  return databaseRequestLog(new Database(options), options);
}

/** @throws RangeError when a limit is out of range. */
export function databaseRequestLog(database: Database, limits: RequestLogLimits | undefined): RequestLog {
  const { maxMs, maxRows, countMs } = checkLogLimits(limits);
  return checkedRequestLog("postgresRequestLog", {
    async write(lines) {
      await database.query(writeSql, [JSON.stringify(lines.map(toStored))]);
      await database.query(trimSql, [maxRows, maxMs, countMs, 2 * lines.length + 16]);
    },
    async read({ path, from, below }, most) {
      const [name, ...values] = onPath(path);
      return database.query<LoggedRequest>(readSql[name], [...values, from, below.at, below.lineId, most]);
    },
    async get(requestId) {
      const [found] = await database.query<[string, string | null]>(getSql, [requestId]);
      if (found === undefined) return undefined;
      const [line, texts] = found;
      return { ...JSON.parse(line), ...(texts !== null && { texts: JSON.parse(texts) }) };
    },
    async counts(request) {
      const { sql, values } = countsQuery(request);
      const sums = new CountSums(request);
      for (const row of await database.query<StoredCounts>(sql, values)) sums.addSum(toRequestCounts(row, request));
      return sums.list();
    },
    async forget(account) {
      for (let more = true; more; ) {
        more = (await database.query<boolean>(forgetRequestsSql, [account, rowsPerForgetting]))[0] === true;
      }
    },
  });
}

function toStored(given: LoggedRequest): object {
  const { texts, ...line } = given;
  const { startedAt: at, lineId, requestId, account, keyId, plan, model, target, tags } = line;
  const [fault, count] = [faultOf(line), line.count ?? 1];
  return {
    ...{ at, lineId, requestId, account, keyId, plan, model, target, tags },
    isError: isFailedLine(line),
    line: JSON.stringify(line),
    ...(texts !== undefined && { texts: JSON.stringify(texts) }),
    refusals: fault === "refusal" ? count : 0,
    failures: fault === "failure" ? count : 0,
  };
}

function onPath(path: LinePath): readonly [keyof typeof readSql, ...string[]] {
  if ("account" in path && path.tag !== undefined) return ["tag", path.account as string, ...path.tag];
  if ("account" in path) return ["account", path.account as string];
  if ("keyId" in path) return ["key", path.keyId as string];
  return "isError" in path ? ["error"] : ["all"];
}

/** A row of {@link countsQuery}. */
type StoredCounts = readonly (string | number | null)[];

const columns: Readonly<Record<string, string>> = {
  ...{ account: "account", plan: "plan", model: "model", target: "target", key: "key_id" },
};

/** Adds up what was counted, by the period and what is alike. */
function countsQuery({ periods, by, where }: TotalsRequest): { sql: string; values: (string | number)[] } {
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

function toRequestCounts(row: StoredCounts, { by }: TotalsRequest): RequestCounts {
  const [refusals = 0, failures = 0] = row.slice(1 + by.length).map(Number);
  return { period: Number(row[0]), by: row.slice(1, 1 + by.length) as (string | null)[], refusals, failures };
}

/** Lines, what leads to them, and what is counted, in one step. Of lines that are there already, nothing is counted. */
const writeSql = /* sql */ `
with given as materialized (
  select distinct on (at, "lineId") * from jsonb_to_recordset($1::text::jsonb) as given (
    at bigint, "lineId" text, "requestId" text, account text, "keyId" text, "isError" boolean, tags jsonb, line text,
    texts text, plan text, model text, target text, refusals bigint, failures bigint
  )
), added as (
  insert into infergate.request (at, line_id, request_id, account, key_id, is_error, tags, line, texts)
  select at, "lineId", "requestId", account, "keyId", "isError", tags, line, texts from given order by at, "lineId"
  on conflict (at, line_id) do nothing
  returning at, line_id
), tagged as (
  insert into infergate.request_tag (account, name, value, at, line_id)
  select account, tag.key, tag.value, at, line_id
  from added join given using (at), jsonb_each_text(tags) as tag where line_id = "lineId" and account is not null
  on conflict do nothing
), counted as (
  insert into infergate.request_count (minute, account, plan, model, target, key_id, tags, refusals, failures)
  select at - mod(at, 60000), account, plan, model, target, "keyId", tags, sum(refusals), sum(failures)
  from added join given using (at) where line_id = "lineId" and refusals + failures > 0
  group by 1, 2, 3, 4, 5, 6, 7
)
select to_json(count(*))::text as json from added`;

const deleteSome = (table: string, which: string) => /* sql */ `
  select sequence from infergate.${table} where ${which} limit $4::integer for update skip locked`;
const tooMany = (table: string) =>
  `sequence <= (select max(sequence) from infergate.${table}) - $1::bigint order by sequence`;

/** Some of what is beyond the limits. */
const trimSql = /* sql */ `
with many as materialized (${deleteSome("request", tooMany("request"))}),
old as materialized (${deleteSome("request", "at < infergate.clock_ms() - $2::bigint order by at")}),
gone as (
  delete from infergate.request where sequence in (select sequence from many union all select sequence from old)
  returning at, line_id, account, tags
), untagged as (
  delete from infergate.request_tag as led using gone, jsonb_each_text(gone.tags) as tag
  where led.account = gone.account and led.name = tag.key and led.value = tag.value
    and led.at = gone.at and led.line_id = gone.line_id
),
many_counts as materialized (${deleteSome("request_count", tooMany("request_count"))}),
old_counts as materialized (${deleteSome("request_count", "minute < infergate.clock_ms() - $3::bigint order by minute")}),
uncounted as (
  delete from infergate.request_count
  where sequence in (select sequence from many_counts union all select sequence from old_counts)
)
select to_json(count(*))::text as json from gone`;

/** Some of an account's. @returns whether there may be more. */
const forgetRequestsSql = /* sql */ `
with gone as (
  delete from infergate.request
  where sequence in (select sequence from infergate.request where account = $1 limit $2::integer)
  returning at, line_id, account, tags
), untagged as (
  delete from infergate.request_tag as led using gone, jsonb_each_text(gone.tags) as tag
  where led.account = gone.account and led.name = tag.key and led.value = tag.value
    and led.at = gone.at and led.line_id = gone.line_id
), uncounted as (
  delete from infergate.request_count
  where sequence in (select sequence from infergate.request_count where account = $1 limit $2::integer)
  returning 1
)
select to_json(
  (select count(*) from gone) >= $2::integer or (select count(*) from uncounted) >= $2::integer
)::text as json`;

const inRange = (first: number) =>
  `at >= $${first}::bigint and (at, line_id) < ($${first + 1}::bigint, $${first + 2}::text)
  order by at desc, line_id desc limit $${first + 3}::integer`;
const read = (condition: string, first: number) => /* sql */ `
select line as json from infergate.request where ${condition} ${inRange(first)}`;

/** By what leads to the lines. */
const readSql = {
  tag: /* sql */ `
select line as json from (
  select at, line_id from infergate.request_tag where account = $1 and name = $2 and value = $3 and ${inRange(4)}
) as led join infergate.request using (at, line_id) order by at desc, line_id desc`,
  account: read("account = $1 and", 2),
  key: read("key_id = $1 and", 2),
  error: read("is_error and", 1),
  all: read("", 1),
};

const getSql = /* sql */ `
select jsonb_build_array(line, texts)::text as json from infergate.request where request_id = $1
order by at desc, line_id desc limit 1`;
