import { counts as counted, counts } from "./totals-sources.js";
import { usedEntries } from "./unit-columns.js";

/** What is added up in a sum, in the order of its columns. */
const quarterCounts = ["requests", "micro", ...counted, "costed"];
const quarterNames = "model, plan, target, prepaid";

/** Adds what is inserted to the sum that is there, which the statement names `known`. */
export const addToKnown = `on conflict (quarter, writer, digest) do update set ${quarterCounts
  .map(
    (count) =>
      `${count} = ${count === "requests" ? "known.requests + excluded.requests" : `infergate.countable(known.${count} + excluded.${count})`}`,
  )
  .join(", ")}`;

/** Adds an entry to a sum that is there. */
export const addNew = `requests = requests + calls, micro = infergate.countable(micro + amount), ${quarterCounts
  .slice(2)
  .map((count) => `${count} = infergate.countable(${count} + new_${count})`)
  .join(", ")}`;

/** So many sets of tags, with all that goes with them, one process adds to in a quarter. */
const mostTagged = 64;

/** All of them but `requests`, as far as numbers are exact. */
function sums(sign = ""): string {
  const most = Number.MAX_SAFE_INTEGER;
  return quarterCounts
    .slice(1)
    .map((count) => `least(greatest(${sign}sum(${count}), -${most}), ${most})`)
    .join(", ");
}

/** What keeps sums over all accounts by the quarter of an hour. */
export const quarterFunctions = /* sql */ `
create function infergate.quarter_digest(model text, plan text, target text, prepaid boolean, host_tags jsonb) returns bytea
language sql stable as $$
  select substr(infergate.digest(jsonb_build_array(model, plan, target, prepaid, host_tags)::text), 1, 16)
$$;

-- The tags of a sum that this process begins. Null where it has too many with tags in this quarter.
create function infergate.tags_of_quarter(this_quarter int, host_tags jsonb) returns jsonb
language plpgsql stable as $$
begin
  if host_tags <> '{}' and (
    select count(*) from infergate.usage_quarter
    where quarter = this_quarter and writer = pg_backend_pid() and tags <> '{}'
  ) >= ${mostTagged} then
    return null;
  end if;
  return host_tags;
end
$$;

-- Makes one sum of those that several processes have added to, in quarters that are over: so many of them at a time. Answers
-- whether there may be more.
create function infergate.merge_quarters(step_size int) returns boolean
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  over constant int := (infergate.clock_ms() - 60000) / 900000;
  due int := -2147483648;
  is_untagged boolean;
  merged bigint;
  left_over bigint := step_size;
begin
  -- One process at a time: another would wait for it.
  if not pg_try_advisory_xact_lock(hashtextextended('infergate.merge_quarters', 0)) then return false; end if;
  while left_over > 0 loop
    -- What another process is at, is merged the next time.
    due := (select min(quarter) from infergate.usage_quarter where writer <> 0 and quarter > due and quarter < over);
    if due is null then return false; end if;
    is_untagged := exists (select from infergate.usage_quarter where quarter = due and tags is null);
    with gone as (
      delete from infergate.usage_quarter where ctid = any (
        array(
          select ctid from infergate.usage_quarter
          -- Where some tags are unknown, the others are of no use.
          where quarter = due and (writer <> 0 or (is_untagged and tags is not null)) for update skip locked
        )
      )
      returning *
    ), added as (
      insert into infergate.usage_quarter as known
        select due, 0, infergate.quarter_digest(${quarterNames}, tags), ${quarterNames}, tags,
          sum(requests), ${sums()}
        from (
          select ${quarterNames}, case when not is_untagged then tags end as tags, ${quarterCounts.join(", ")} from gone
        ) as merged
        group by ${quarterNames}, tags
        ${addToKnown}
    )
    select count(*) into merged from gone;
    -- Of accounts that were forgotten.
    delete from infergate.usage_quarter where quarter = due and writer = 0 and requests = 0 and micro = 0;
    left_over := left_over - 1 - merged;
  end loop;
  return true;
end
$$;

-- Takes what an account has used out of the quarters that there are, from a moment on and before another.
create function infergate.take_from_quarters(owner text, since bigint, until bigint) returns void
language sql set enable_seqscan = off set jit = off as $$
  insert into infergate.usage_quarter as known
    select quarter, pg_backend_pid(), infergate.quarter_digest(${quarterNames}, own_tags), ${quarterNames}, own_tags,
      -sum(requests), ${sums("-")}
    from (
      select (at / 900000)::int as quarter, ${quarterNames}, infergate.host_tags(tags) as own_tags, requests, micro,
        ${counted.map((column) => `infergate.count_in(${column}) as ${column}`).join(", ")}, costed
      from ${usedEntries("owner", "(values (1, since, until))")}
    ) as used
    group by quarter, ${quarterNames}, own_tags
    ${addToKnown}
$$;
`;

/** A day of fewer entries is read quickly. */
const fewestEntries = 2_000;
/** Of days with more sums than this allows, whole ones take longer to read than a part of one. */
const entriesPerSum = 100;
/** In a slice. So there are fewer rows of slices than a fifth of the entries. */
const entriesPerSliceSum = 5;
/** In a quarter of an hour, or an hour. */
const entriesPerQuarterSum = 2;

const sliceNames = "key_id, model, plan, target, prepaid, own_tags";

/** What cuts days into slices, in bounded steps. */
export const sliceFunctions = /* sql */ `
-- Lists the busy accounts of one more day that has been over for an hour. Answers whether there was one.
create function infergate.list_busy() returns boolean
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  -- Another process may be at it.
  listed constant int := (select day from infergate.usage_listed for update skip locked);
  dropped constant bigint := (select dropped_until / 86400000 from infergate.retention);
  this_day constant int := (infergate.clock_ms() - 3600000) / 86400000;
  next_day constant int := (
    select min(day) from infergate.usage_sum where day > greatest(listed, dropped) and day < this_day
  );
begin
  if listed is null or next_day is null then return false; end if;
  insert into infergate.usage_busy
    select next_day, account from infergate.usage_sum where day = next_day
    group by account having sum(requests) >= greatest(${fewestEntries}, ${entriesPerSum} * count(*))
    on conflict do nothing;
  update infergate.usage_listed set day = next_day;
  return true;
end
$$;

-- Cuts a busy day into slices, so many entries at a time. Answers whether there may be more to do.
create function infergate.slice_usage(step_size int) returns boolean
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  busy infergate.usage_busy;
  calls numeric;
  sums int;
  is_current boolean;
  is_untagged boolean;
  midnight bigint;
  next_midnight bigint;
  unit bigint;
  next_unit bigint;
  slice_size int;
  begun bigint;
  ended bigint;
  slice_since bigint;
  entries_left int := step_size;
begin
  select * into busy from infergate.usage_busy order by day, account limit 1 for update skip locked;
  if not found then return infergate.list_busy(); end if;
  midnight := busy.day * 86400000::bigint;
  next_midnight := midnight + 86400000;
  -- Until the end of this transaction nothing is added to these, nor are they deleted. What is added later takes back
  -- that they are sliced.
  select sum(requests), count(*), bool_and(sliced), bool_or(tags is null) into calls, sums, is_current, is_untagged from (
    select requests, sliced, tags from infergate.usage_sum
    where account = busy.account and day = busy.day order by tag_set, digest for update
  ) as locked;
  -- A forgetting under stricter isolation would not see what this inserts: by this it fails, and is repeated.
  update infergate.usage_busy set day = day where day = busy.day and account = busy.account;
  -- Its account was forgotten, or its journal was dropped.
  if calls is null or midnight <= (select dropped_until from infergate.retention) then
    delete from infergate.usage_busy where day = busy.day and account = busy.account;
    return true;
  end if;
  if not is_current then
    delete from infergate.usage_slice where account = busy.account and day = busy.day;
    update infergate.usage_sum set sliced = true where account = busy.account and day = busy.day and not sliced;
  end if;

  -- By the root: the longer the day, the more slices it has, and the longer they are. Each has a row for each of its sums.
  slice_size := greatest(1, 5 * sqrt(calls), ${entriesPerSliceSum} * sums);
  -- Hours and days of every time zone begin with a quarter of an hour. Where there would be nearly as many sums as entries,
  -- slices are longer.
  unit := case
    when calls >= ${96 * entriesPerQuarterSum} * sums then 900000
    when calls >= ${24 * entriesPerQuarterSum} * sums then 3600000
    else 86400000
  end;
  ended := coalesce(
    (select max(until) from infergate.usage_slice where account = busy.account and day = busy.day), midnight
  );
  while ended < next_midnight and entries_left > 0 loop
    begun := ended;
    next_unit := (begun / unit + 1) * unit;
    -- Entries of one moment stay together.
    select case when count(*) = slice_size then max(at) + 1 else next_unit end, entries_left - count(*)
      into ended, entries_left from (
      select at from infergate.entry
      where account = busy.account and at >= begun and at < next_unit and kind in ('charge', 'checkpoint', 'release')
      order by at, sequence limit slice_size
    ) as next_entry;
    insert into infergate.usage_slice
      select busy.account, busy.day, begun, ended, row_number() over (), ${sliceNames}, sum(requests), ${sums()}
      from (
        select key_id, model, plan, target, prepaid, case when not is_untagged then infergate.host_tags(tags) end as own_tags,
          requests, micro, costed, ${counts.map((column) => `infergate.count_in(${column}) as ${column}`).join(", ")}
        from ${usedEntries("busy.account", "(values (1, begun, ended))")}
      ) as used
      group by ${sliceNames};
  end loop;
  if ended >= next_midnight then
    delete from infergate.usage_busy where day = busy.day and account = busy.account;
  end if;
  return true;
end
$$;
`;
