/** The entry to the ledger for what changes accounts. */
export const operateFunction = /* sql */ `
-- batches: [{"account": text, "operations": [...]}], the accounts in one order everywhere, or processes could deadlock.
-- One answer per operation, in their order. What an operation refuses is an answer too, so that its neighbours stand.
create function infergate.operate(batches jsonb) returns setof jsonb
-- Rows come and go so fast that the statistics often show empty tables, which the planner would then read in full.
language plpgsql set enable_seqscan = off as $$
declare
  batch jsonb;
  op jsonb;
  step infergate.step;
  before infergate.account;
  moment bigint;
begin
  for batch in select value from jsonb_array_elements(batches) loop
    before := infergate.lock_account(batch->>'account');
    -- After the lock: it may have been waited for.
    moment := infergate.clock_ms();
    step.account := infergate.expire_holds(before, moment);
    for op in select value from jsonb_array_elements(batch->'operations') loop
      if (step.account).prepaid is not null then step.account := infergate.lapse(step.account, moment); end if;
      step := case op->>'op'
        when 'reserve' then infergate.reserve(step.account, op, moment)
        when 'settle' then infergate.settle(step.account, op, moment)
        when 'renew' then infergate.renew(step.account, op, moment)
        when 'grant' then infergate.grant_credits(step.account, op, moment)
        when 'reset' then infergate.reset_windows(step.account, op, moment)
        when 'topup' then infergate.top_up(step.account, op, moment)
        when 'deduct' then infergate.deduct(step.account, op, moment)
        when 'expire' then infergate.step('expired', step.account, moment)
      end;
      if op ? 'named' then
        step.answer := step.answer || infergate.named_limits(before.id, op->'named');
      end if;
      return next step.answer;
    end loop;
    if step.account is distinct from before then
      update infergate.account set
        session = (step.account).session,
        week = (step.account).week,
        month = (step.account).month,
        next_expiry = (step.account).next_expiry,
        prepaid = (step.account).prepaid
        where id = before.id;
    elsif step.account is not distinct from infergate.empty_account(before.id)
      and not batch->'operations' @> '[{"op": "reserve"}]'
    then
      -- It was made to be locked, and there is nothing to remember.
      delete from infergate.account where id = before.id;
    end if;
  end loop;
end
$$;
`;

/** What operations return, and what they look up by id. */
export const answerFunctions = /* sql */ `
create function infergate.answer(
  status text, account infergate.account, moment bigint, lease jsonb default null
) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'status', status,
    'now', moment,
    'windows', jsonb_build_array(to_jsonb(account.session), to_jsonb(account.week), to_jsonb(account.month)),
    'lease', lease,
    'prepaid', account.prepaid
  )
$$;

create function infergate.step(
  status text, account infergate.account, moment bigint, lease jsonb default null
) returns infergate.step
language sql stable as $$
  select row(account, infergate.answer(status, account, moment, lease))::infergate.step
$$;

-- The end of a reservation, for which prepaid credits have paid so much.
create function infergate.settled(status text, account infergate.account, paid bigint, moment bigint)
returns infergate.step
language plpgsql stable as $$
declare
  step infergate.step := infergate.step(status, account, moment);
begin
  if paid <> 0 then step.answer := step.answer || jsonb_build_object('paid', paid); end if;
  return step;
end
$$;

-- What is known of an id: of an open or expired hold, or of the entry that ended it. In this order: it may end meanwhile.
create function infergate.find_reservation(wanted text) returns setof infergate.hold
language sql stable as $$
  select * from infergate.hold where id = wanted
  union all
  select id, account, reserved, 0, 0, first_expires_at, 0, true, starts[cardinality(starts) - 2:], ends, null,
    null, null
    from infergate.entry where id = wanted and kind in ('charge', 'release')
  limit 1
$$;

create function infergate.lease(hold infergate.hold) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'amount', hold.reserved, 'expiresAt', hold.first_expires_at,
    'starts', to_jsonb(hold.starts), 'ends', to_jsonb(hold.ends),
    'part', nullif(hold.part - '{uses,paid}'::text[], '{}')
  )
$$;

-- Why an id that is known may not be used for this reservation, or null if it may.
create function infergate.conflict(known infergate.hold, account text, amount bigint) returns text
language sql immutable as $$
  select case when known.account <> account then 'other_account' when known.reserved <> amount then 'other_amount' end
$$;
`;

/** What an operator changes by hand: grants and resets. */
export const correctionFunctions = /* sql */ `
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
    if earlier.account <> account.id then return infergate.step('other_account', account, moment); end if;
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
  insert into infergate.entry (account, at, id, kind, amount, starts, tags)
    values (account.id, moment, op->>'id', 'grant', granted, starts, op->'tags');
  return infergate.step('granted', infergate.without_empty_session(account), moment);
end
$$;

create function infergate.reset_windows(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  windows constant bigint[] := infergate.numbers(op->'windows');
begin
  if 1 = any (windows) then account.session := infergate.reset_window(account.id, 1, account.session, moment); end if;
  if 2 = any (windows) then account.week := infergate.reset_window(account.id, 2, account.week, moment); end if;
  if 3 = any (windows) then account.month := infergate.reset_window(account.id, 3, account.month, moment); end if;
  return infergate.step('reset', infergate.without_empty_session(account), moment);
end
$$;

create function infergate.reset_window(
  account text, window_index int, instance infergate.instance, moment bigint
) returns infergate.instance
language plpgsql as $$
declare
  starts bigint[] := array[null, null, null];
begin
  if instance.used = 0 or instance.ends_at <= moment then return instance; end if;
  starts[window_index] := instance.starts_at;
  insert into infergate.entry (account, at, id, kind, amount, starts)
    values (account, moment, 'reset_' || gen_random_uuid(), 'reset', -instance.used, starts);
  instance.used := 0;
  return instance;
end
$$;
`;

/**
 * Entries to the ledger for databases, roles or pools whose default is a stricter isolation than READ COMMITTED: there, what
 * meets another process on an account would fail, again and again. A procedure alone can begin a transaction of its own.
 */
export const readCommittedProcedures = /* sql */ `
-- Each answers the rows of its function in an array.
create procedure infergate.operate_read_committed(batches jsonb, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := (
    select jsonb_agg(answer order by place) from infergate.operate(batches) with ordinality as answers (answer, place)
  );
end
$$;

create procedure infergate.forget_read_committed(wanted text, step_size int, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := jsonb_build_array(infergate.forget(wanted, step_size));
end
$$;

create procedure infergate.sweep_read_committed(most_accounts int, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := jsonb_build_array(infergate.sweep(most_accounts));
end
$$;
`;
