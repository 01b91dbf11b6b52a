import { mostSkewMs } from "../../ledger/storage/ledger-storage.js";
import { sumNames } from "../../ledger/usage/kept-sums.js";
import { countColumns, shortest, sumTables } from "./storage-tables.js";

/** A sum of a commit is [digest, names but for the account, counts]. */
const ownNames = sumNames.filter((name) => name !== "account");

/** What is added to a sum that is there. */
const orAdd = `on conflict (digest, begins) do update set
        ${countColumns
          .map((name) => `${name} = coalesce(kept.${name} + excluded.${name}, kept.${name}, excluded.${name})`)
          .join(", ")}`;

/** What goes of the sums of all accounts with one of them. */
const takenAway = `select digest, begins, ${countColumns.map((name) => `0 - ${name} as ${name}`).join(", ")}
    from gone where begins < (select until from infergate.kept_rolled)`;

/** What is rolled up next. */
const rolledSums = `select * from infergate.${shortest.table} where begins >= first and begins < rolled`;

/** Each with its place among the moments before which sums are too old. */
const purgedSums = [
  ...sumTables.map(({ table }, index) => ({ table, place: index + 1 })),
  { table: "kept_sum_all", place: sumTables.length },
];

/** Longer ones are made of the shortest when these have ended: a commit adds to these only. */
const longer = sumTables.filter(({ table }) => table !== shortest.table);

/** So many quarters of an hour are rolled up at once. */
const rolledAtOnce = 16;
/** What was dated before a quarter's end is committed by then. */
const rollUpAfterMs = 60_000;

/**
 * Functions, so that each connection keeps the plans of their statements: to plan them anew takes ten times as long as to run
 * them. They are told what to compare and what to write; no rule of the ledger stands in them.
 *
 * Each statement in them reads what is committed by then (READ COMMITTED), so that what follows a lock is what was waited for.
 */

export const storageFunctions = [
  /* sql */ `
-- What is asked of one account: its records, holds and entries of these names, and the holds that are due by a moment. Names
-- that are null are all.
create function infergate.kept_state(
  asked text, names text[], hold_names text[], entry_keys text[], due_until bigint, moment bigint
) returns jsonb
language plpgsql set enable_seqscan = off as $$
declare
  found_account infergate.kept_account;
begin
  select * into found_account from infergate.kept_account where id = asked;
  return jsonb_build_object(
    'account', asked,
    'version', coalesce(found_account.version, ''),
    'core', case when found_account.id is not null
      then jsonb_build_array(found_account.stamp, found_account.core, found_account.counters) end,
    'records', case when names is null then (
      select jsonb_agg(jsonb_build_array(kept.name, kept.stamp, kept.content, kept.counters))
      from infergate.kept_record as kept where kept.account = asked
    ) when cardinality(names) > 0 then (
      select jsonb_agg(jsonb_build_array(kept.name, kept.stamp, kept.content, kept.counters))
      from infergate.kept_record as kept where kept.account = asked and kept.name = any(names)
    ) end,
    'holds', (
      select jsonb_agg(jsonb_build_array(hold.name, hold.stamp, hold.content)) from (
        select * from infergate.kept_hold as kept where kept.name = any(hold_names)
        union
        select * from infergate.kept_hold as kept where kept.account = asked and kept.due <= due_until
      ) as hold
    ),
    'entries', case when cardinality(entry_keys) > 0 then (
      select jsonb_agg(jsonb_build_array(kept.key, kept.account, kept.amount, kept.starts, kept.expires_at, kept.receipt))
      from infergate.kept_entry as kept where kept.key = any(entry_keys)
    ) end,
    'nextDue', (select min(due) from infergate.kept_hold as kept where kept.account = asked and kept.due > moment),
    'now', moment,
    'keptFrom', (select kept_from from infergate.kept_retention),
    'forgottenAt', (select at from infergate.kept_forgotten where digest = sha256(convert_to(asked, 'UTF8')))
  );
end
$$`,
  /* sql */ `
-- asked: [[account, names, holds, entries, whether all holds]], the lists as texts of arrays.
create function infergate.load_kept(asked jsonb) returns setof jsonb
language plpgsql set enable_seqscan = off as $$
declare
  one jsonb;
  moment bigint := infergate.clock_ms();
begin
  for one in select value from jsonb_array_elements(asked) loop
    return next infergate.kept_state(
      one->>0, (one->>1)::text[], (one->>2)::text[], (one->>3)::text[],
      case when (one->>4)::boolean then 9007199254740991 else moment end, moment
    );
  end loop;
end
$$`,
  /* sql */ `
-- Counters after an addition, [by, least, most, floors], each the text of an array; null: they are not within its bounds. What
-- has no bound is null.
create function infergate.with_added(counters bigint[], addition jsonb) returns bigint[]
language plpgsql as $$
declare
  sums bigint[];
begin
  select case when bool_and(
    greatest(counter, floor) >= coalesce(least, -9223372036854775808)
    and greatest(counter, floor) <= coalesce(most, 9223372036854775807)
  ) then array_agg(greatest(counter, floor) + change) end
  into sums
  from unnest(
    counters, (addition->>0)::bigint[], (addition->>1)::bigint[], (addition->>2)::bigint[], (addition->>3)::bigint[]
  ) as one(counter, change, least, most, floor);
  return sums;
end
$$`,
  /* sql */ `
-- Each commit is
--    0 account, 1 version, 2 expected version, 3 stamp of the core, 4 when it was decided,
--    5 core, 6 its counters, 7 or its addition,
--    8 records [[name, stamp, content, counters, addition, whether it goes]],
--    9 names of holds and 10 their stamps, 11 names of holds that must not be there,
--   12 new holds [[name, content, due]], 13 changed ones, alike, 14 names of those that go,
--   15 entries [[key, kind, id, amount, prepaid, starts, tags, expiry, receipt]], 16 keys that must not be there,
--   17 sums [[digest, names but for the account, counts]].
-- What is empty is null; names, stamps, keys and counters are texts of arrays. The commits come in the order of their accounts,
-- the same everywhere, or processes could deadlock. Each answers [previous version, counters, records' counters, next due], or
-- null: it was refused.
create function infergate.commit_kept(commits jsonb) returns setof jsonb
language plpgsql set enable_seqscan = off as $$
declare
  one jsonb;
  account_id text;
  next_version text;
  moment bigint;
  was infergate.kept_account;
  counters_now bigint[];
  records_now jsonb;
  are_new boolean;
  rolled bigint;
begin
  for one in select value from jsonb_array_elements(commits) loop
    account_id := one->>0;
    next_version := one->>1;
    select * into was from infergate.kept_account where id = account_id for update;
    moment := infergate.clock_ms();
    counters_now := case when one->>7 is not null then infergate.with_added(was.counters, one->7) end;
    if was.stamp is distinct from one->>3
      or one->>2 <> coalesce(was.version, '')
      or abs((one->>4)::bigint - moment) > ${mostSkewMs}
      or one->>7 is not null and counters_now is null
      or one->>8 is not null and exists (
        select from jsonb_array_elements(one->8) as asked
        left join lateral (
          select * from infergate.kept_record where account = account_id and name = asked->>0
        ) as kept on true
        where kept.stamp is distinct from asked->>1
          or asked->>4 is not null and infergate.with_added(kept.counters, asked->4) is null
      )
      or one->>9 is not null and exists (
        select from unnest((one->>9)::text[], (one->>10)::text[]) as asked(name, stamp)
        where not exists (select from infergate.kept_hold as kept where kept.name = asked.name and kept.stamp = asked.stamp)
      )
      or one->>11 is not null and exists (select from infergate.kept_hold where name = any((one->>11)::text[]))
      or one->>16 is not null and exists (select from infergate.kept_entry where key = any((one->>16)::text[]))
    then
      return next 'null'::jsonb;
      continue;
    end if;

    if was.id is null then
      insert into infergate.kept_account (id, version, stamp, core, counters)
      values (account_id, next_version, next_version, one->>5, (one->>6)::bigint[]);
    elsif one->>5 is not null then
      update infergate.kept_account set version = next_version, stamp = next_version, core = one->>5,
        counters = (one->>6)::bigint[]
        where id = account_id;
    else
      update infergate.kept_account set version = next_version, counters = coalesce(counters_now, was.counters)
        where id = account_id;
    end if;

    records_now := null;
    if one->>8 is not null then
      delete from infergate.kept_record where account = account_id and name in (
        select asked->>0 from jsonb_array_elements(one->8) as asked where (asked->>5)::boolean
      );
      with added as (
        update infergate.kept_record as kept set counters = infergate.with_added(kept.counters, asked->4)
        from jsonb_array_elements(one->8) as asked
        where kept.account = account_id and kept.name = asked->>0 and asked->>4 is not null
        returning kept.name, kept.counters
      )
      select jsonb_agg(jsonb_build_array(name, counters)) into records_now from added;
      insert into infergate.kept_record as kept (account, name, stamp, content, counters)
      select account_id, asked->>0, next_version, asked->>2, (asked->>3)::bigint[]
      from jsonb_array_elements(one->8) as asked where asked->>2 is not null
      on conflict (account, name) do update
        set stamp = excluded.stamp, content = excluded.content, counters = excluded.counters;
    end if;

    if one->>14 is not null then
      delete from infergate.kept_hold where name = any((one->>14)::text[]);
    end if;
    if one->>13 is not null then
      update infergate.kept_hold as kept
      set stamp = next_version, content = asked->>1, due = (asked->>2)::bigint, at = moment
      from jsonb_array_elements(one->13) as asked where kept.name = asked->>0;
    end if;
    if one->>12 is not null then
      -- One of the same name fails the statement, and each commit is sent by itself.
      insert into infergate.kept_hold (name, account, stamp, content, due, at)
      select asked->>0, account_id, next_version, asked->>1, (asked->>2)::bigint, moment
      from jsonb_array_elements(one->12) as asked;
    end if;
    if one->>15 is not null then
      insert into infergate.kept_entry
        (account, at, key, kind, id, amount, prepaid, starts, tags, expires_at, receipt)
      select account_id, moment, entry->>0, entry->>1, entry->>2, (entry->>3)::bigint, (entry->>4)::bigint, entry->>5,
        entry->>6, (entry->>7)::bigint, entry->>8
      from jsonb_array_elements(one->15) as entry;
    end if;

    if one->>17 is not null then
      with added as (
        ${addToSums(shortest)}
        returning kept.xmax = 0 as is_new
      )
      select bool_or(is_new), (select until from infergate.kept_rolled) into are_new, rolled from added;
      if are_new then
        insert into infergate.kept_sum_name (digest, account, ${ownNames.join(", ")})
        select sum->>0, account_id, ${ownNames.map((_, index) => `sum->>${index + 1}`).join(", ")}
        from jsonb_array_elements(one->17) as sum
        on conflict do nothing;
      end if;
      -- The clock was put back.
      if moment < rolled then
        ${longer.map((one) => `${addToSums(one)};`).join("\n        ")}
        ${addToAll(addedSums(shortest.lengthMs))};
      end if;
    end if;

    return next jsonb_build_array(
      coalesce(was.version, ''), to_jsonb(counters_now), records_now,
      (select min(due) from infergate.kept_hold as kept where kept.account = account_id)
    );
  end loop;
end
$$`,
  /* sql */ `
-- Whether there are lines of a journal, or sums, of an account.
create function infergate.has_kept_lines(wanted text) returns boolean
language plpgsql set enable_seqscan = off as $$
begin
  return exists (select from infergate.kept_entry where account = wanted)
    ${sumTables.map(({ table }) => `or exists (select from infergate.${table} join infergate.kept_sum_name using (digest) where account = wanted)`).join("\n    ")};
end
$$`,
  /* sql */ `
-- Forgets some of an account, and all the rest with the last of it. Answers whether there is more.
create function infergate.forget_kept(wanted text, step_size int) returns boolean
language plpgsql set enable_seqscan = off as $$
declare
  dropped bigint;
begin
  -- First: nothing comes to the account while it is locked.
  perform from infergate.kept_account where id = wanted for update;
  insert into infergate.kept_forgotten as kept values (sha256(convert_to(wanted, 'UTF8')), infergate.clock_ms())
    on conflict (digest) do update set at = greatest(kept.at, excluded.at);
  delete from infergate.kept_entry where ctid = any (
    array(select ctid from infergate.kept_entry where account = wanted limit step_size)
  );
  -- What is rolled up meanwhile would lack what goes.
  perform pg_advisory_xact_lock(hashtextextended('infergate.kept_rolled', 0));
  ${sumTables
    .map(
      ({ table }) => `with gone as (${deleteOfAccount(table)} returning *)
  ${table === shortest.table ? addToAll(takenAway, true) : "select count(*) into dropped from gone"};`,
    )
    .join("\n  ")}
  if infergate.has_kept_lines(wanted) then return true; end if;
  delete from infergate.kept_sum_name where account = wanted;
  delete from infergate.kept_hold where account = wanted;
  delete from infergate.kept_record where account = wanted;
  delete from infergate.kept_account where id = wanted;
  return false;
end
$$`,
  /* sql */ `
-- Drops what is too old, so many rows of each kind at the most. Answers whether there may be more. What another process drops,
-- it leaves alone. By bitmaps of BRIN indexes: where nothing is to be dropped, other plans read all there is.
create function infergate.purge_kept(
  entries_before bigint, top_ups_before bigint, sums_before bigint[], forgotten_before bigint, step_size int
) returns boolean
language plpgsql set enable_seqscan = off set enable_indexscan = off as $$
declare
  dropped bigint;
  most bigint;
  rolled constant bigint := (select until from infergate.kept_rolled);
begin
  with gone as (
    delete from infergate.kept_entry where ctid = any (
      array(
        select ctid from infergate.kept_entry
        where at < entries_before and (kind not in ('topup', 'deduction') or at < top_ups_before)
        limit step_size for update skip locked
      )
    )
    returning true
  ), expired as (
    delete from infergate.kept_hold where ctid = any (
      array(
        select ctid from infergate.kept_hold where due is null and at < entries_before
        limit step_size for update skip locked
      )
    )
    returning true
  ), noted as (
    insert into infergate.kept_retention as kept
    select true, entries_before where exists (select from gone) or exists (select from expired)
    on conflict (only_row) do update set kept_from = greatest(kept.kept_from, excluded.kept_from)
  )
  select greatest((select count(*) from gone), (select count(*) from expired)) into most;
  ${purgedSums
    .map(
      ({ table, place }) => `with gone as (
    delete from infergate.${table} where ctid = any (
      array(select ctid from infergate.${table} where begins < least(sums_before[${place}], rolled) limit step_size for update skip locked)
    )
    returning true
  )
  select count(*) into dropped from gone;
  most := greatest(most, dropped);`,
    )
    .join("\n  ")}
  update infergate.kept_rolled set since = sums_before[${sumTables.length}] where since < sums_before[${sumTables.length}];
  delete from infergate.kept_forgotten where at < forgotten_before;
  return most >= step_size;
end
$$`,
  /* sql */ `
-- Adds what accounts have used in the next quarters of an hour to their longer sums, and to the sums of all. Answers whether there may be more.
create function infergate.roll_up_kept() returns boolean
language plpgsql set enable_seqscan = off as $$
declare
  ended constant bigint := (infergate.clock_ms() - ${rollUpAfterMs}) / ${shortest.lengthMs} * ${shortest.lengthMs};
  rolled bigint;
  first bigint;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('infergate.kept_rolled', 0)) then return false; end if;
  rolled := (select until from infergate.kept_rolled);
  first := (select min(begins) from infergate.${shortest.table} where begins >= rolled and begins < ended);
  rolled := greatest(rolled, case when first is null then ended else least(ended, first + ${rolledAtOnce * shortest.lengthMs}) end);
  if first is not null then
    ${addToAll(rolledSums)};
    ${longer
      .map(
        ({ table, lengthMs }) => `insert into infergate.${table} as kept (digest, begins, ${countColumns.join(", ")})
    select digest, begins / ${lengthMs} * ${lengthMs}, ${countColumns.map((name) => `sum(${name})`).join(", ")}
    from (${rolledSums}) as ended group by 1, 2 ${orAdd};`,
      )
      .join("\n    ")}
  end if;
  update infergate.kept_rolled set until = rolled where until < rolled;
  return rolled < ended;
end
$$`,
];

/** The statement that adds what a commit adds to the sums of a length. */
function addToSums({ table, lengthMs }: (typeof sumTables)[number]): string {
  return /* sql */ `insert into infergate.${table} as kept (digest, begins, ${countColumns.join(", ")})
        ${addedSums(lengthMs)} ${orAdd}`;
}

/** What a commit adds to the sums of a length: digests, beginnings and counts. `offset 0`: the counts are parsed once, not for each. */
function addedSums(lengthMs: number): string {
  const counts = countColumns.map((name, index) => `nullif(count[${index + 1}], 0) as ${name}`);
  return /* sql */ `select sum->>0 as digest, moment / ${lengthMs} * ${lengthMs} as begins, ${counts.join(", ")}
      from jsonb_array_elements(one->17) as sum
      cross join lateral (select (sum->>${ownNames.length + 1})::double precision[] as count offset 0) as counted`;
}

/** A statement that adds sums of accounts to those of all. @param isFirst - whether it goes on with a list of `with`. */
function addToAll(source: string, goesOn = false): string {
  const names = sumNames.filter((name) => name !== "account" && name !== "key");
  const added = countColumns.map((name) => `sum(${name}) as ${name}`).join(", ");
  return /* sql */ `${goesOn ? "," : "with"} part as materialized (
    select 'all ' || md5(jsonb_build_array(${names.join(", ")})::text) as digest, begins, ${names.join(", ")}, ${added}
    from (${source}) as kept join infergate.kept_sum_name using (digest)
    group by begins, ${names.join(", ")}
  ), named as (
    insert into infergate.kept_sum_name (digest, account, key, ${names.join(", ")})
    select distinct digest, '', '', ${names.join(", ")} from part
    on conflict do nothing
  )
  insert into infergate.kept_sum_all as kept (digest, begins, ${countColumns.join(", ")})
  select digest, begins, ${countColumns.join(", ")} from part ${orAdd}`;
}

function deleteOfAccount(table: string): string {
  return /* sql */ `
    delete from infergate.${table} where ctid = any (
      array(
        select kept.ctid from infergate.kept_sum_name as name join infergate.${table} as kept using (digest)
        where name.account = wanted limit step_size
      )
    )`;
}
