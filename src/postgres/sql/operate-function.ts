/** The entry to the ledger: any number of operations on any number of accounts in one statement. */
export const operateFunction = /* sql */ `
create function infergate.grant_credits(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  limits constant bigint[] := infergate.numbers(op->'limits');
  window_index constant int := op->>'window';
  granted constant bigint := op->>'amount';
  session infergate.instance := account.session;
  week infergate.instance := infergate.calendar_at(account.week, limits[4:7], moment);
  month infergate.instance := infergate.calendar_at(account.month, limits[9:12], moment);
  chosen infergate.instance;
  starts bigint[] := array[null, null, null];
  earlier infergate.entry;
begin
  if week is null or month is null then return infergate.step('clock', account, moment); end if;
  select * into earlier from infergate.entry where id = op->>'id' and kind = 'grant';
  if found then
    if earlier.subject <> account.subject then return infergate.step('other_subject', account, moment); end if;
    if earlier.amount <> granted then return infergate.step('other_amount', account, moment); end if;
    if earlier.starts[window_index] is null then return infergate.step('other_window', account, moment); end if;
    return infergate.step('granted', account, moment);
  end if;

  chosen := case window_index when 1 then session when 2 then week else month end;
  if moment >= chosen.ends_at then return infergate.step('no_session', account, moment); end if;
  chosen.bonus := chosen.bonus + granted;
  if abs(chosen.bonus) > 9007199254740991 then return infergate.step('too_large', account, moment); end if;

  case window_index
    when 1 then account.session := chosen;
    when 2 then account.week := chosen;
    else account.month := chosen;
  end case;
  starts[window_index] := chosen.starts_at;
  insert into infergate.entry (subject, at, id, kind, amount, starts, tags)
    values (account.subject, moment, op->>'id', 'grant', granted, starts, op->'tags');
  return infergate.step('granted', account, moment);
end
$$;

create function infergate.without_use(instance infergate.instance) returns infergate.instance
language plpgsql immutable as $$
begin
  instance.used := 0;
  return instance;
end
$$;

create function infergate.reset_windows(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  windows constant bigint[] := infergate.numbers(op->'windows');
  used constant bigint[] := array[(account.session).used, (account.week).used, (account.month).used];
  begun constant bigint[] := array[(account.session).starts_at, (account.week).starts_at, (account.month).starts_at];
  starts bigint[];
begin
  for i in 1..3 loop
    continue when i <> all (windows) or used[i] = 0;
    starts := array[null, null, null];
    starts[i] := begun[i];
    insert into infergate.entry (subject, at, id, kind, amount, starts)
      values (account.subject, moment, op->>'id', 'reset', -used[i], starts);
  end loop;
  if 1 = any (windows) then account.session := infergate.without_use(account.session); end if;
  if 2 = any (windows) then account.week := infergate.without_use(account.week); end if;
  if 3 = any (windows) then account.month := infergate.without_use(account.month); end if;
  return infergate.step('reset', infergate.without_empty_session(account), moment);
end
$$;

-- batches: [{"subject": text, "operations": [...]}], the subjects in one order everywhere, or processes could deadlock.
-- One answer per operation, in their order. What an operation refuses is an answer too, so that its neighbours stand.
create function infergate.operate(batches jsonb) returns setof jsonb
language plpgsql as $$
declare
  batch jsonb;
  op jsonb;
  step infergate.step;
  before infergate.account;
  moment bigint;
begin
  for batch in select value from jsonb_array_elements(batches) loop
    before := infergate.lock_account(batch->>'subject');
    -- After the lock: it may have been waited for.
    moment := infergate.clock_ms();
    step.account := infergate.expire_holds(before, moment);
    for op in select value from jsonb_array_elements(batch->'operations') loop
      step := case op->>'op'
        when 'reserve' then infergate.reserve(step.account, op, moment)
        when 'settle' then infergate.settle(step.account, op, moment)
        when 'renew' then infergate.renew(step.account, op, moment)
        when 'grant' then infergate.grant_credits(step.account, op, moment)
        when 'reset' then infergate.reset_windows(step.account, op, moment)
      end;
      return next step.answer;
    end loop;
    if step.account is distinct from before then
      update infergate.account set
        session = (step.account).session,
        week = (step.account).week,
        month = (step.account).month,
        next_expiry = (step.account).next_expiry
        where subject = before.subject;
    end if;
  end loop;
end
$$;

create function infergate.balance(wanted text) returns jsonb
language plpgsql stable as $$
declare
  account infergate.account;
  moment constant bigint := infergate.clock_ms();
begin
  select * into account from infergate.account where subject = wanted;
  if not found then account := infergate.empty_account(wanted); end if;
  return infergate.answer('balance', infergate.without_expired(account, moment), moment);
end
$$;

-- The account and its holds at once; of its journal up to so many entries. Answers whether that was all.
create function infergate.forget(wanted text, step_size int) returns boolean
language plpgsql as $$
declare
  deleted bigint;
begin
  perform infergate.lock_account(wanted);
  delete from infergate.hold where subject = wanted;
  delete from infergate.account where subject = wanted;
  delete from infergate.entry where subject = wanted;
  return true;
end
$$;

-- Drops what is older than the retention, up to so many rows. Answers how many entries it has dropped.
create function infergate.purge(retention_ms bigint, step_size int) returns bigint
language plpgsql as $$
declare
  before constant bigint := infergate.clock_ms() - retention_ms;
  dropped bigint;
  latest bigint;
begin
  with old as (
    select subject, at, sequence from infergate.entry where at < before limit step_size for update skip locked
  ), gone as (
    delete from infergate.entry using old
    where (entry.subject, entry.at, entry.sequence) = (old.subject, old.at, old.sequence)
    returning entry.at
  )
  select count(*), max(at) into dropped, latest from gone;
  with old as (
    select id from infergate.hold where expired and expires_at < before limit step_size for update skip locked
  ), gone as (
    delete from infergate.hold using old where hold.id = old.id returning expires_at
  )
  select greatest(latest, max(expires_at)) into latest from gone;
  update infergate.retention set dropped_until = latest where dropped_until < latest;
  return dropped;
end
$$;
`;
