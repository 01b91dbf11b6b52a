/** Lines, what leads to them, and what is counted, in one step. Of lines that are there already, nothing is counted. */
export const writeSql = /* sql */ `
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
export const trimSql = /* sql */ `
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
export const forgetRequestsSql = /* sql */ `
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
export const readSql = {
  tag: /* sql */ `
select line as json from (
  select at, line_id from infergate.request_tag where account = $1 and name = $2 and value = $3 and ${inRange(4)}
) as led join infergate.request using (at, line_id) order by at desc, line_id desc`,
  account: read("account = $1 and", 2),
  key: read("key_id = $1 and", 2),
  error: read("is_error and", 1),
  all: read("", 1),
};

export const getSql = /* sql */ `
select jsonb_build_array(line, texts)::text as json from infergate.request where request_id = $1
order by at desc, line_id desc limit 1`;
