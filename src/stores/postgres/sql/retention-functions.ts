/** What takes entries out of the journal again, in bounded steps. */
export const retentionFunctions = /* sql */ `
-- Drops what is older than the retention, up to so many rows of each kind. Answers whether there may be more.
create function infergate.purge(retention_ms bigint, step_size int) returns boolean
-- By bitmaps of the BRIN index only: where nothing is to be dropped, any other plan reads all there is to find that out.
language plpgsql set enable_seqscan = off set enable_indexscan = off as $$
declare
  before constant bigint := infergate.clock_ms() - retention_ms;
  -- A constant, so that the index is used: sums are kept for 400 days at least.
  first_day constant int := (infergate.clock_ms() - greatest(retention_ms, 34560000000)) / 86400000;
  dropped bigint;
  latest bigint;
  last_dropped int;
begin
  with gone as (
    delete from infergate.entry where ctid = any (
      array(select ctid from infergate.entry where at < before limit step_size for update skip locked)
    )
    returning at
  )
  select count(*), max(at) into dropped, latest from gone;
  with gone as (
    delete from infergate.hold where ctid = any (
      array(select ctid from infergate.hold where expired and expires_at < before limit step_size for update skip locked)
    )
    returning expires_at
  )
  select greatest(dropped, count(*)), greatest(latest, max(expires_at)) into dropped, latest from gone;
  update infergate.retention set dropped_until = latest where dropped_until < latest;
  delete from infergate.forgotten where at < infergate.clock_ms() - 86400000;
  with gone as (
    delete from infergate.usage_sum where ctid = any (
      array(
        select ctid from infergate.usage_sum
        where day < first_day
        limit step_size for update skip locked
      )
    )
    returning day
  )
  select greatest(dropped, count(*)) into dropped from gone;
  last_dropped := (select dropped_until / 86400000 from infergate.retention);
  -- Only what is read no more: a slice that is there is there whole.
  with gone as (
    delete from infergate.usage_slice where ctid = any (
      array(select ctid from infergate.usage_slice where day <= last_dropped limit step_size for update skip locked)
    )
    returning day
  )
  select greatest(dropped, count(*)) into dropped from gone;
  with gone as (
    delete from infergate.usage_running where ctid = any (
      array(select ctid from infergate.usage_running where day <= last_dropped limit step_size for update skip locked)
    )
    returning day
  )
  select greatest(dropped, count(*)) into dropped from gone;
  with gone as (
    delete from infergate.usage_quarter where ctid = any (
      array(
        select ctid from infergate.usage_quarter
        where quarter <= (select dropped_until / 900000 from infergate.retention) limit step_size for update skip locked
      )
    )
    returning quarter
  )
  select greatest(dropped, count(*)) into dropped from gone;
  return infergate.purge_limits(infergate.clock_ms(), retention_ms, step_size) or dropped = step_size;
end
$$;

-- Drops caps that ended a day ago, buckets that have been idle for a day, and the ids of old top-ups.
create function infergate.purge_limits(moment bigint, retention_ms bigint, step_size int) returns boolean
language plpgsql as $$
declare
  day constant bigint := 86400000;
  gone bigint;
  dropped bigint;
begin
  delete from infergate.cap where ctid = any (
    array(select ctid from infergate.cap where ends_at < moment - day and held = 0 limit step_size for update skip locked)
  );
  get diagnostics gone = row_count;
  delete from infergate.bucket where ctid = any (
    array(select ctid from infergate.bucket where keep_until < moment and held = 0 limit step_size for update skip locked)
  );
  get diagnostics dropped = row_count;
  gone := greatest(gone, dropped);
  delete from infergate.top_up where ctid = any (
    array(
      select ctid from infergate.top_up where at < moment - greatest(retention_ms, 31 * day)
      limit step_size for update skip locked
    )
  );
  get diagnostics dropped = row_count;
  gone := greatest(gone, dropped);
  -- A day more than an account remembers the id.
  delete from infergate.top_up_claim where ctid = any (
    array(select ctid from infergate.top_up_claim where at < moment - 32 * day limit step_size for update skip locked)
  );
  get diagnostics dropped = row_count;
  return greatest(gone, dropped) = step_size;
end
$$;

-- Of a long journal only so many entries are deleted at a time, and the account with the last of them. Answers whether
-- it is gone.
create function infergate.forget(wanted text, step_size int) returns boolean
language plpgsql as $$
declare
  deleted bigint;
  -- Entries of one moment go together.
  next_moment bigint;
begin
  -- First: two that lock its entries before it, each in an order of its own, would wait for each other.
  perform infergate.lock_account(wanted);
  next_moment := (
    select max(at) + 1
    from (select at from infergate.entry where account = wanted order by at, sequence limit step_size) as next_entry
    having count(*) = step_size
  );
  perform infergate.take_from_quarters(
    wanted,
    (select (dropped_until / 900000 + 1) * 900000 from infergate.retention),
    coalesce(next_moment, 9223372036854775807)
  );
  delete from infergate.entry where account = wanted and at < coalesce(next_moment, 9223372036854775807);
  if next_moment is not null then return false; end if;
  -- Before the sums: what slices a day has locked this before it locks the day's sums.
  delete from infergate.usage_busy where account = wanted;
  delete from infergate.hold where account = wanted;
  delete from infergate.usage_sum where ctid = any (
    array(select ctid from infergate.usage_sum where account = wanted limit step_size)
  );
  -- Also those that moved meanwhile: their day was sliced.
  if exists (select from infergate.usage_sum where account = wanted) then return false; end if;
  -- After the sums: once they are gone, there are no further slices of them.
  delete from infergate.usage_slice where ctid = any (
    array(select ctid from infergate.usage_slice where account = wanted limit step_size)
  );
  get diagnostics deleted = row_count;
  if deleted = step_size then return false; end if;
  delete from infergate.usage_running where ctid = any (
    array(select ctid from infergate.usage_running where account = wanted limit step_size)
  );
  get diagnostics deleted = row_count;
  if deleted = step_size then return false; end if;
  delete from infergate.cap where account = wanted;
  delete from infergate.bucket where account = wanted;
  delete from infergate.top_up where account = wanted;
  delete from infergate.account where id = wanted;
  insert into infergate.forgotten values (infergate.digest(wanted), infergate.clock_ms())
    on conflict (digest) do update set at = greatest(infergate.forgotten.at, excluded.at);
  return true;
end
$$;

-- Stable as what it calls is: else PostgreSQL would not inline it.
create function infergate.digest(account text) returns bytea
language sql stable as $$
  select sha256(convert_to(account, 'UTF8'))
$$;

-- Whether a lease is of a time before its account was forgotten. Then nothing was open any more, so that each session opened
-- since has begun later, or in the same millisecond.
create function infergate.is_forgotten(account text, session_start bigint) returns boolean
language plpgsql stable as $$
begin
  return exists (select from infergate.forgotten where digest = infergate.digest(account) and at >= session_start);
end
$$;
`;

/** What ends leases of accounts that nobody calls any more. */
export const sweepFunction = /* sql */ `
-- Ends the expired leases of so many accounts at the most. Answers how many it ended. What another operation is at, that one
-- ends.
create function infergate.sweep(most_accounts int) returns bigint
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  moment constant bigint := infergate.clock_ms();
  due text[];
  open_before bigint;
begin
  -- One process at a time: another would only look for the same.
  if not pg_try_advisory_xact_lock(hashtextextended('infergate.sweep', 0)) then return 0; end if;
  due := array(
    select distinct account from infergate.hold where not expired and expires_at <= moment limit most_accounts
  );
  if due = '{}' then return 0; end if;
  due := array(select id from infergate.account where id = any (due) order by id for update skip locked);
  open_before := (select count(*) from infergate.hold where account = any (due) and not expired);
  perform infergate.operate(
    (
      select coalesce(jsonb_agg(jsonb_build_object('account', account, 'operations', '[{"op": "expire"}]'::jsonb)), '[]')
      from unnest(due) as account
    )
  );
  return open_before - (select count(*) from infergate.hold where account = any (due) and not expired);
end
$$;
`;
