import { costTag } from "../../../prices/tags.js";
import { addNew, addToKnown } from "./quarter-functions.js";
import { counts } from "./totals-sources.js";
import { unitColumns, unitPairs, unitTags, usedEntries } from "./unit-columns.js";

/** How many sets of tags an account has in a day. What comes beyond goes into sums without tags. */
const mostTagSets = 200;

/** What an entry of the journal adds to the sums: the same as src/ledger/usage/usage-sums.ts. */
export const usageFunctions = /* sql */ `
-- What a tag is as a text, or null.
create function infergate.text_in(tag jsonb) returns text
language sql immutable parallel safe as $$
  select case when jsonb_typeof(tag) = 'string' then tag #>> '{}' end
$$;

create function infergate.text_of(tags jsonb, name text) returns text
language sql immutable parallel safe as $$
  select infergate.text_in(tags->name)
$$;

-- What a tag is as a number, or 0. No charge is lost because an upstream reports more than can be counted.
create function infergate.count_in(tag jsonb) returns bigint
language sql immutable parallel safe as $$
  select case
    when jsonb_typeof(tag) = 'number' then least(greatest(tag::numeric, -9007199254740991), 9007199254740991)::bigint
    else 0
  end
$$;

create function infergate.count_of(tags jsonb, name text) returns bigint
language sql immutable parallel safe as $$
  select infergate.count_in(tags->name)
$$;

create function infergate.countable(total bigint) returns bigint
language sql immutable as $$
  select least(greatest(total, -9007199254740991), 9007199254740991)
$$;

-- The tags that are the host's own.
create function infergate.host_tags(tags jsonb) returns jsonb
language plpgsql immutable as $$
begin
  -- Most calls have none, and to find that out in a text is quicker.
  if tags is null or tags::text not like '%"tag.%' then return '{}'; end if;
  return coalesce(
    (
      select jsonb_object_agg(key, value) from jsonb_each(tags)
      where starts_with(key, 'tag.') and jsonb_typeof(value) = 'string'
    ),
    '{}'
  );
end
$$;

-- Null: the tags are unknown.
create function infergate.tag_set_of(host_tags jsonb) returns bytea
language sql stable as $$
  select case
    when host_tags is null then '\\x00'
    when host_tags = '{}' then ''
    else substr(infergate.digest(host_tags::text), 1, 16)
  end
$$;

create function infergate.sum_digest(model text, key_id text, prepaid boolean, plan text, target text) returns bytea
language sql stable as $$
  select substr(infergate.digest(jsonb_build_array(model, key_id, prepaid, plan, target)::text), 1, 16)
$$;

-- Whether an account has so many sets of tags already in this day, and not this one.
create function infergate.is_beyond_tag_sets(owner text, today int, host_tags jsonb, wanted bytea) returns boolean
language plpgsql stable as $$
begin
  if host_tags is null or host_tags = '{}' then return false; end if;
  if exists (select from infergate.usage_sum where account = owner and day = today and tag_set = wanted) then
    return false;
  end if;
  return exists (select from infergate.usage_sum where account = owner and day = today and tags is null)
    or (
      select count(distinct tag_set) from infergate.usage_sum
      where account = owner and day = today and tags <> '{}'
    ) >= ${mostTagSets};
end
$$;

-- Adds an entry to its sum. calls: 1 for a charge, else 0.
create function infergate.add_usage(
  owner text, moment bigint, calls int, amount bigint, is_prepaid boolean, entry_tags jsonb
) returns void
language plpgsql as $$
declare
  -- Assigned rather than written into the statements: in a batch, PostgreSQL prepares an assignment once.
  today constant int := moment / 86400000;
  by_model constant text := infergate.text_of(entry_tags, 'model');
  by_key constant text := infergate.text_of(entry_tags, 'keyId');
  by_plan constant text := infergate.text_of(entry_tags, 'plan');
  by_target constant text := infergate.text_of(entry_tags, 'target');
  wanted constant bytea := infergate.sum_digest(by_model, by_key, is_prepaid, by_plan, by_target);
  by_tags jsonb := infergate.host_tags(entry_tags);
  this_quarter constant int := moment / 900000;
  quarter_tags jsonb;
  of_quarter constant bytea := infergate.quarter_digest(by_model, by_plan, by_target, is_prepaid, by_tags);
  by_tag_set bytea := infergate.tag_set_of(by_tags);
  new_input constant bigint := infergate.count_of(entry_tags, 'input');
  new_cached_input constant bigint := infergate.count_of(entry_tags, 'cachedInput');
  new_cache_write constant bigint := infergate.count_of(entry_tags, 'cacheWrite');
  new_output constant bigint := infergate.count_of(entry_tags, 'output');
  new_reasoning constant bigint := infergate.count_of(entry_tags, 'reasoning');
  new_cost constant bigint := infergate.count_of(entry_tags, '${costTag}');
  new_costed constant bigint := case when entry_tags ? '${costTag}' then amount else 0 end;
  ${unitColumns.map((column) => `new_${column} bigint := 0;`).join("\n  ")}
begin
  if calls = 0 and amount = 0 and entry_tags is null then return; end if;
  if entry_tags ?| ${unitTags} then
    ${unitPairs.map(([column, tag]) => `new_${column} := infergate.count_of(entry_tags, '${tag}');`).join("\n    ")}
  end if;
  update infergate.usage_quarter set
    ${addNew}
    where quarter = this_quarter and writer = pg_backend_pid() and digest = of_quarter;
  if not found then
    quarter_tags := infergate.tags_of_quarter(this_quarter, by_tags);
    insert into infergate.usage_quarter as known values (
      this_quarter, pg_backend_pid(), infergate.quarter_digest(by_model, by_plan, by_target, is_prepaid, quarter_tags),
      by_model, by_plan, by_target, is_prepaid, quarter_tags, calls, amount,
      ${counts.map((column) => `new_${column}`).join(", ")}, new_costed
    ) ${addToKnown};
  end if;
  loop
    update infergate.usage_sum set
      ${addNew}, sliced = false, running = false
      where account = owner and day = today and tag_set = by_tag_set and digest = wanted;
    if found then return; end if;
    if infergate.is_beyond_tag_sets(owner, today, by_tags, by_tag_set) then
      by_tags := null;
      by_tag_set := infergate.tag_set_of(null);
    end if;
    insert into infergate.usage_sum (account, day, tag_set, digest, key_id, model, plan, target, prepaid, tags)
      values (owner, today, by_tag_set, wanted, by_key, by_model, by_plan, by_target, is_prepaid, by_tags)
      on conflict do nothing;
  end loop;
end
$$;
`;

/** Beyond, a step would take seconds: the journal answers for such a day of an account. */
const mostEntries = 50_000;

const names = "key_id, model, plan, target, prepaid, own_tags";
const most = Number.MAX_SAFE_INTEGER;
const added = [...counts, "costed"];

/** Up to each quarter. Where nothing is counted, there is no list. */
function listOf(count: string): string {
  return `case when bool_or(${count} <> 0) then array_agg(${count} order by quarter) end`;
}

/** What keeps running totals of the days that are over, by the quarters of an hour in which something was used. */
export const runningFunctions = /* sql */ `
-- Makes them for the next accounts of a day that has been over for an hour: of so many entries, and of one account at least.
-- Answers whether there may be more to do.
create function infergate.run_totals(step_size int) returns boolean
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  -- Another process may be at it.
  done infergate.usage_running_until;
  this_day constant int := (infergate.clock_ms() - 3600000) / 86400000;
  dropped constant bigint := (select dropped_until from infergate.retention);
  next record;
  midnight bigint;
  is_untagged boolean;
  calls numeric;
  entries_left numeric := step_size;
begin
  select * into done from infergate.usage_running_until for update skip locked;
  if not found then return false; end if;
  if not exists (select from infergate.usage_sum where day = done.day and account > done.account) then
    select min(day), '' into done.day, done.account
      from infergate.usage_sum where day > greatest(done.day, dropped / 86400000) and day < this_day;
    if done.day is null then return false; end if;
  end if;
  midnight := done.day * 86400000::bigint;
  for next in
    select account from infergate.usage_sum where day = done.day and account > done.account group by account order by account
  loop
    exit when entries_left <= 0;
    -- Until the end of this transaction nothing is added to these, nor are they deleted. What is added later takes back
    -- that they have running totals.
    perform from infergate.usage_sum where account = next.account and day = done.day order by tag_set, digest for update;
    select sum(requests), bool_or(tags is null) into calls, is_untagged
      from infergate.usage_sum where account = next.account and day = done.day;
    done.account := next.account;
    -- Its account was forgotten, its journal was dropped, or it is too long.
    continue when calls is null or calls > ${mostEntries} or midnight <= dropped;
    -- Also so that a forgetting under stricter isolation fails, and is repeated: it would not see what this inserts.
    update infergate.usage_sum set running = true where account = next.account and day = done.day;
    delete from infergate.usage_running where account = next.account and day = done.day;
    insert into infergate.usage_running
      select next.account, done.day, row_number() over (), ${names}, array_agg(quarter order by quarter),
        array_agg(requests order by quarter), ${["micro", ...counts].map(listOf).join(", ")},
        case when bool_or(costed <> micro) then array_agg(costed order by quarter) end
      from (
        select ${names}, quarter, (sum(requests) over upward)::int as requests, ${["micro", ...added]
          .map((count) => `least(greatest(sum(${count}) over upward, -${most}), ${most})::bigint as ${count}`)
          .join(", ")}
        from (
          select ${names}, quarter, sum(requests) as requests, ${["micro", ...added].map((count) => `sum(${count}) as ${count}`).join(", ")}
          from (
            select key_id, model, plan, target, prepaid, case when not is_untagged then infergate.host_tags(tags) end as own_tags,
              ((at - midnight) / 900000)::smallint as quarter, requests, micro, costed,
              ${counts.map((count) => `infergate.count_in(${count}) as ${count}`).join(", ")}
            from ${usedEntries("next.account", "(values (1, midnight, midnight + 86400000))")}
          ) as used
          group by ${names}, quarter
        ) as summed
        window upward as (partition by ${names} order by quarter)
      ) as summed
      group by ${names};
    entries_left := entries_left - calls - 1;
  end loop;
  update infergate.usage_running_until set day = done.day, account = done.account;
  return true;
end
$$;
`;
