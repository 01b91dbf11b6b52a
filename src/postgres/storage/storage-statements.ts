import { mostSkewMs } from "../../ledger/storage/ledger-storage.js";

/**
 * Reads accounts. Each row of the parameter asks of one account; what it asks for is read by whole keys, so that no plan looks
 * at all records of a busy account.
 */
export const loadStatement = /* sql */ `
with asked as materialized (
  select * from jsonb_to_recordset($1::jsonb)
    as asked(account text, names text[], holds text[], entries text[], "allHolds" boolean)
), moment as materialized (select infergate.clock_ms() as now)
select jsonb_build_object(
  'account', asked.account,
  'version', coalesce(account.version, ''),
  'core', case when account.id is not null then jsonb_build_array(account.stamp, account.core, account.counters) end,
  'records', (
    select jsonb_agg(jsonb_build_array(record.name, record.stamp, record.content, record.counters))
    from unnest(asked.names) as name
    cross join lateral (
      select * from infergate.kept_record where kept_record.account = asked.account and kept_record.name = name.name
    ) as record
  ),
  'holds', (
    select jsonb_agg(jsonb_build_array(hold.name, hold.stamp, hold.content))
    from (
      select named.* from unnest(asked.holds) as name
      cross join lateral (select * from infergate.kept_hold where kept_hold.name = name.name) as named
      union
      select * from infergate.kept_hold as due
      where due.account = asked.account and due.due <= case when asked."allHolds" then 9007199254740991 else moment.now end
    ) as hold
  ),
  'entries', (
    select jsonb_agg(
      jsonb_build_array(entry.key, entry.account, entry.amount, entry.starts, entry.expires_at, entry.receipt)
    )
    from unnest(asked.entries) as key
    cross join lateral (select * from infergate.kept_entry where kept_entry.key = key.key) as entry
  ),
  'nextDue', (
    select min(due.due) from infergate.kept_hold as due where due.account = asked.account and due.due > moment.now
  ),
  'now', moment.now,
  'forgottenAt', (select at from infergate.kept_forgotten as forgotten where forgotten.account = asked.account)
)::text as json
from asked cross join moment
left join lateral (select * from infergate.kept_account where kept_account.id = asked.account) as account on true`;

/**
 * Commits changes of accounts. All that it decides by is locked first, the accounts in the order of their ids, and read as it is
 * by then. What must not be there is not locked: where it has come meanwhile, its key is there twice, and the statement fails
 * as a whole. Then each commit is sent by itself.
 */
export const commitStatement = /* sql */ `
with asked as materialized (
  select * from jsonb_to_recordset($1::jsonb) as asked(
    n int, account text, version text, expected text, stamp text, core text, counters bigint[],
    by bigint[], least bigint[], most bigint[], now bigint
  )
), account as materialized (
  select * from infergate.kept_account where id = any(select account from asked) order by id for update
), records as materialized (
  select * from jsonb_to_recordset($2::jsonb) as records(
    n int, account text, name text, stamp text, content text, counters bigint[], removed boolean,
    by bigint[], least bigint[], most bigint[], floors bigint[]
  )
), record as materialized (
  select stored.*, records.n from records
  cross join (select count(*) from account) as locked
  cross join lateral (
    select * from infergate.kept_record as kept
    where kept.account = records.account and kept.name = records.name for update
  ) as stored
), holds as materialized (
  select * from jsonb_to_recordset($3::jsonb) as holds(
    n int, account text, name text, stamp text, content text, due bigint, removed boolean
  )
), hold as materialized (
  select stored.*, holds.n from holds
  cross join (select count(*) from account) as locked
  cross join lateral (select * from infergate.kept_hold as kept where kept.name = holds.name for update) as stored
), entries as materialized (
  select * from jsonb_to_recordset($4::jsonb) as entries(
    n int, place int, account text, key text, kind text, id text, amount bigint, prepaid bigint, starts text, tags text,
    expires_at bigint, receipt text
  )
), done as materialized (
  select asked.n, coalesce(account.version, '') as previous, moment.now
  from asked
  cross join (select infergate.clock_ms() as now) as moment
  left join account on account.id = asked.account
  where abs(asked.now - moment.now) <= ${mostSkewMs}
    and account.stamp is not distinct from asked.stamp
    and (asked.expected is null or asked.expected = coalesce(account.version, ''))
    and not exists (
      select from unnest(account.counters, asked.least, asked.most) as one(counter, least, most)
      where counter < least or counter > most
    )
    and not exists (
      select from records left join record on record.n = records.n and record.name = records.name
      where records.n = asked.n and (
        record.stamp is distinct from records.stamp or exists (
          select from unnest(record.counters, records.least, records.most, records.floors) as one(counter, least, most, floor)
          where greatest(counter, floor) < least or greatest(counter, floor) > most
        )
      )
    )
    and not exists (
      select from holds left join hold on hold.n = holds.n and hold.name = holds.name
      where holds.n = asked.n and hold.stamp is distinct from holds.stamp
    )
    and not exists (
      select from jsonb_to_recordset($5::jsonb) as absent(n int, key text)
      where absent.n = asked.n and exists (select from infergate.kept_entry as kept where kept.key = absent.key)
    )
), new_account as (
  insert into infergate.kept_account (id, version, stamp, core, counters)
  select account, version, version, core, counters from asked join done using (n) where asked.stamp is null
), old_account as (
  update infergate.kept_account as kept set
    version = asked.version,
    stamp = case when asked.core is null then kept.stamp else asked.version end,
    core = coalesce(asked.core, kept.core),
    counters = case
      when asked.core is not null then asked.counters
      when asked.by is null then kept.counters
      else (
        select array_agg(counter + change order by place)
        from unnest(kept.counters, asked.by) with ordinality as one(counter, change, place)
      ) end
  from asked join done using (n)
  where kept.id = asked.account and asked.stamp is not null
  returning asked.n, kept.counters
), new_record as (
  insert into infergate.kept_record (account, name, stamp, content, counters)
  select records.account, name, version, content, records.counters
  from records join done using (n) join asked using (n)
  where records.stamp is null and content is not null
), old_record as (
  update infergate.kept_record as kept set
    stamp = case when records.content is null then kept.stamp else asked.version end,
    content = coalesce(records.content, kept.content),
    counters = case
      when records.content is not null then records.counters
      else (
        select array_agg(greatest(counter, floor) + change order by place)
        from unnest(kept.counters, records.by, records.floors) with ordinality as one(counter, change, floor, place)
      ) end
  from records join done using (n) join asked using (n)
  where kept.account = records.account and kept.name = records.name and records.stamp is not null
    and not records.removed and (records.content is not null or records.by is not null)
  returning records.n, kept.name, kept.counters
), gone_record as (
  delete from infergate.kept_record as kept using records join done using (n)
  where kept.account = records.account and kept.name = records.name and records.removed
), new_hold as (
  insert into infergate.kept_hold (name, account, stamp, content, due)
  select name, holds.account, version, content, due
  from holds join done using (n) join asked using (n) where holds.stamp is null and content is not null
), old_hold as (
  update infergate.kept_hold as kept set stamp = asked.version, content = holds.content, due = holds.due
  from holds join done using (n) join asked using (n)
  where kept.name = holds.name and holds.stamp is not null and holds.content is not null
), gone_hold as (
  delete from infergate.kept_hold as kept using holds join done using (n) where kept.name = holds.name and holds.removed
), new_entry as (
  insert into infergate.kept_entry
    (account, at, key, kind, id, amount, prepaid, starts, tags, expires_at, receipt)
  select account, done.now, key, kind, id, amount, prepaid, starts, tags, expires_at, receipt
  from entries join done using (n) order by n, place
)
select jsonb_build_object(
  'n', asked.n,
  'previous', done.previous,
  'counters', (
    select old_account.counters from old_account where old_account.n = asked.n and asked.core is null
  ),
  'records', (
    select jsonb_agg(jsonb_build_array(name, counters)) from old_record where old_record.n = asked.n
  ),
  'nextDue', (
    select min(due.due) from infergate.kept_hold as due
    where due.account = asked.account and due.due is not null
      and not exists (select from holds where holds.n = asked.n and holds.name = due.name)
  )
)::text as json
from asked join done using (n)`;
