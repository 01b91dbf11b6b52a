import { counts as counted } from "./totals-sources.js";
import { usedEntries } from "./used-entries.js";

/** What is added up in a sum, in the order of its columns. */
const counts = ["requests", "micro", ...counted, "costed"];
const names = "model, plan, target, prepaid";

/** Adds what is inserted to the sum that is there, which the statement names `known`. */
export const addToKnown = `on conflict (quarter, writer, digest) do update set ${counts
  .map(
    (count) =>
      `${count} = ${count === "requests" ? "known.requests + excluded.requests" : `infergate.countable(known.${count} + excluded.${count})`}`,
  )
  .join(", ")}`;

/** Adds an entry to a sum that is there. */
export const addNew = `requests = requests + calls, micro = infergate.countable(micro + amount), ${counts
  .slice(2)
  .map((count) => `${count} = infergate.countable(${count} + new_${count})`)
  .join(", ")}`;

/** So many sets of tags, with all that goes with them, one process adds to in a quarter. */
const mostTagged = 64;

/** All of them but `requests`, as far as numbers are exact. */
export function sums(sign = ""): string {
  const most = Number.MAX_SAFE_INTEGER;
  return counts
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
        select due, 0, infergate.quarter_digest(${names}, tags), ${names}, tags,
          sum(requests), ${sums()}
        from (
          select ${names}, case when not is_untagged then tags end as tags, ${counts.join(", ")} from gone
        ) as merged
        group by ${names}, tags
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
    select quarter, pg_backend_pid(), infergate.quarter_digest(${names}, own_tags), ${names}, own_tags,
      -sum(requests), ${sums("-")}
    from (
      select (at / 900000)::int as quarter, ${names}, infergate.host_tags(tags) as own_tags, requests, micro,
        ${counted.map((column) => `infergate.count_in(${column}) as ${column}`).join(", ")}, costed
      from ${usedEntries("owner", "(values (1, since, until))")}
    ) as used
    group by quarter, ${names}, own_tags
    ${addToKnown}
$$;
`;
