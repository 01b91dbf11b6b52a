import { counts } from "./totals-sources.js";
import { usedEntries } from "./used-entries.js";

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
