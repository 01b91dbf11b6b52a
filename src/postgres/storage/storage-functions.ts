import { mostSkewMs } from "../../ledger/storage/ledger-storage.js";
import { sumNames } from "../../ledger/usage/kept-sums.js";
import { countColumns, sumTables } from "./storage-tables.js";

/** A sum of a commit is [digest, names but for the account, counts]. */
const ownNames = sumNames.filter((name) => name !== "account");

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
-- Whether counters are within the bounds of an addition: [by, least, most, floors], each the text of an array.
create function infergate.are_within(counters bigint[], addition jsonb) returns boolean
language sql immutable as $$
  select not exists (
    select from unnest(
      counters, (addition->>1)::bigint[], (addition->>2)::bigint[], (addition->>3)::bigint[]
    ) as one(counter, least, most, floor)
    where greatest(counter, floor) < least or greatest(counter, floor) > most
  )
$$`,
  /* sql */ `
create function infergate.with_added(counters bigint[], addition jsonb) returns bigint[]
language sql immutable as $$
  select array_agg(greatest(counter, floor) + change order by place)
  from unnest(counters, (addition->>0)::bigint[], (addition->>3)::bigint[])
    with ordinality as one(counter, change, floor, place)
$$`,
  /* sql */ `
-- Each commit is
--   [account, version, expected, stamp, now, core, counters, addition, records, holds, entries, absent keys, sums]
-- with records [name, stamp, content, counters, addition, whether it goes], holds [name, stamp, content, due, whether it goes],
-- entries [key, kind, id, amount, prepaid, starts, tags, expiry, receipt], sums [digest, names but for the account, counts]. The commits come in the order of their accounts, the
-- same everywhere, or processes could deadlock. Each answers [previous version, counters, records' counters, next due], or
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
begin
  for one in select value from jsonb_array_elements(commits) loop
    account_id := one->>0;
    next_version := one->>1;
    select * into was from infergate.kept_account where id = account_id for update;
    moment := infergate.clock_ms();
    if was.stamp is distinct from one->>3
      or one->>2 is distinct from coalesce(was.version, '') and one->>2 is not null
      or abs((one->>4)::bigint - moment) > ${mostSkewMs}
      or jsonb_typeof(one->7) = 'array' and not infergate.are_within(was.counters, one->7)
      or jsonb_array_length(one->8) > 0 and exists (
        select from jsonb_array_elements(one->8) as asked
        left join lateral (
          select * from infergate.kept_record where account = account_id and name = asked->>0
        ) as kept on true
        where kept.stamp is distinct from asked->>1
          or jsonb_typeof(asked->4) = 'array' and not infergate.are_within(kept.counters, asked->4)
      )
      or exists (
        select from jsonb_array_elements(one->9) as asked
        left join lateral (select stamp from infergate.kept_hold where name = asked->>0) as kept on true
        where kept.stamp is distinct from asked->>1
      )
      or exists (
        select from jsonb_array_elements_text(one->11) as asked(key)
        cross join lateral (select from infergate.kept_entry where key = asked.key) as kept
      )
    then
      return next 'null'::jsonb;
      continue;
    end if;

    counters_now := null;
    if was.id is null then
      insert into infergate.kept_account (id, version, stamp, core, counters)
      values (account_id, next_version, next_version, one->>5, (one->>6)::bigint[]);
    elsif one->>5 is not null then
      update infergate.kept_account set version = next_version, stamp = next_version, core = one->>5,
        counters = (one->>6)::bigint[]
        where id = account_id;
    elsif jsonb_typeof(one->7) = 'array' then
      counters_now := infergate.with_added(was.counters, one->7);
      update infergate.kept_account set version = next_version, counters = counters_now where id = account_id;
    else
      update infergate.kept_account set version = next_version where id = account_id;
    end if;

    records_now := null;
    if jsonb_array_length(one->8) > 0 then
      delete from infergate.kept_record where account = account_id and name in (
        select asked->>0 from jsonb_array_elements(one->8) as asked where (asked->>5)::boolean
      );
      with added as (
        update infergate.kept_record as kept set counters = infergate.with_added(kept.counters, asked->4)
        from jsonb_array_elements(one->8) as asked
        where kept.account = account_id and kept.name = asked->>0 and jsonb_typeof(asked->4) = 'array'
        returning kept.name, kept.counters
      )
      select jsonb_agg(jsonb_build_array(name, counters)) into records_now from added;
      insert into infergate.kept_record as kept (account, name, stamp, content, counters)
      select account_id, asked->>0, next_version, asked->>2, (asked->>3)::bigint[]
      from jsonb_array_elements(one->8) as asked where asked->>2 is not null
      on conflict (account, name) do update
        set stamp = excluded.stamp, content = excluded.content, counters = excluded.counters;
    end if;

    if jsonb_array_length(one->9) > 0 then
      delete from infergate.kept_hold where name in (
        select asked->>0 from jsonb_array_elements(one->9) as asked where (asked->>4)::boolean
      );
      update infergate.kept_hold as kept 
      set stamp = next_version, content = asked->>2, due = (asked->>3)::bigint, at = moment
      from jsonb_array_elements(one->9) as asked
      where kept.name = asked->>0 and asked->>1 is not null and asked->>2 is not null;
      -- One of the same name that another account has just made fails the statement, and each commit is sent by itself.
      insert into infergate.kept_hold (name, account, stamp, content, due, at)
      select asked->>0, account_id, next_version, asked->>2, (asked->>3)::bigint, moment
      from jsonb_array_elements(one->9) as asked where asked->>1 is null and asked->>2 is not null;
    end if;

    insert into infergate.kept_entry
      (account, at, key, kind, id, amount, prepaid, starts, tags, expires_at, receipt)
    select account_id, moment, entry->>0, entry->>1, entry->>2, (entry->>3)::bigint, (entry->>4)::bigint, entry->>5,
      entry->>6, (entry->>7)::bigint, entry->>8
    from jsonb_array_elements(one->10) with ordinality as list(entry, place) order by place;

    if jsonb_array_length(one->12) > 0 then
      insert into infergate.kept_sum_name (digest, account, ${ownNames.join(", ")})
      select sum->>0, account_id, ${ownNames.map((_, index) => `sum->>${index + 1}`).join(", ")}
      from jsonb_array_elements(one->12) as sum
      on conflict do nothing;
      ${sumTables.map(addToSums).join("\n      ")}
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
begin
  -- First: nothing comes to the account while it is locked.
  perform from infergate.kept_account where id = wanted for update;
  insert into infergate.kept_forgotten as kept values (sha256(convert_to(wanted, 'UTF8')), infergate.clock_ms())
    on conflict (digest) do update set at = greatest(kept.at, excluded.at);
  delete from infergate.kept_entry where ctid = any (
    array(select ctid from infergate.kept_entry where account = wanted limit step_size)
  );
  ${sumTables
    .map(
      ({ table }) => `delete from infergate.${table} where ctid = any (
    array(
      select kept.ctid from infergate.kept_sum_name as name join infergate.${table} as kept using (digest)
      where name.account = wanted limit step_size
    )
  );`,
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
  ${sumTables
    .map(
      ({ table }, index) => `with gone as (
    delete from infergate.${table} where ctid = any (
      array(select ctid from infergate.${table} where begins < sums_before[${index + 1}] limit step_size for update skip locked)
    )
    returning true
  )
  select count(*) into dropped from gone;
  most := greatest(most, dropped);`,
    )
    .join("\n  ")}
  delete from infergate.kept_forgotten where at < forgotten_before;
  return most >= step_size;
end
$$`,
];

/** The statement that adds what a commit adds to the sums of a length. */
function addToSums({ table, lengthMs }: (typeof sumTables)[number]): string {
  const counts = countColumns.map((_, index) => `nullif(count[${index + 1}], 0)`);
  const added = countColumns.map(
    (name) => `${name} = coalesce(kept.${name} + excluded.${name}, kept.${name}, excluded.${name})`,
  );
  return /* sql */ `insert into infergate.${table} as kept (digest, begins, ${countColumns.join(", ")})
      select sum->>0, moment / ${lengthMs} * ${lengthMs}, ${counts.join(", ")}
      from jsonb_array_elements(one->12) as sum
      cross join lateral (select (sum->>${ownNames.length + 1})::double precision[] as count) as counted
      on conflict (digest, begins) do update set ${added.join(", ")};`;
}
