/** The admission of a reservation. */
export const reserveFunction = /* sql */ `
-- named: the caps and rates, if there are any. limits: the session's limit and length, then of the week and of the month the limit and four bounds.
create function infergate.reserve(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  limits constant bigint[] := infergate.numbers(op->'limits');
  amount constant bigint := op->>'amount';
  need constant bigint := op->>'need';
  session infergate.instance := infergate.session_at(account.session, limits[2], moment);
  week infergate.instance := infergate.calendar_at(account.week, limits[4:7], moment);
  month infergate.instance := infergate.calendar_at(account.month, limits[9:12], moment);
  -- What the plan has left that no call holds. Null: none of its windows has a limit.
  plan_left constant bigint := least(
    infergate.left_in(session, limits[1]), infergate.left_in(week, limits[3]), infergate.left_in(month, limits[8])
  );
  -- A debt takes nothing from the plan.
  funds bigint := 0;
  prepaid_held bigint := 0;
  by_prepaid bigint := 0;
  verdict text;
  part jsonb;
  hold infergate.hold;
  status text;
begin
  if week is null or month is null then return infergate.step('clock', account, moment); end if;

  select * into hold from infergate.find_reservation(op->>'id');
  if found then
    status := infergate.conflict(hold, account.id, amount);
    if status is not null then return infergate.step(status, account, moment); end if;
    return infergate.step('replayed', account, moment, infergate.lease(hold));
  end if;

  if account.prepaid is not null then
    funds := greatest(0, infergate.prepaid_balance(account.prepaid, moment));
    prepaid_held := (account.prepaid).held;
  end if;
  if plan_left + funds - prepaid_held < need then verdict := 'denied'; end if;
  -- When windows deny, the process that reads the answer checks the bounds of the caps.
  if op ? 'named' and verdict is null then
    verdict := infergate.judge_limits(account.id, op->'named', amount, need, moment);
  end if;
  if verdict is not null then return infergate.step(verdict, account, moment); end if;
  if (funds > 0 or op ? 'named') and prepaid_held + amount > 9007199254740991 then
    return infergate.step('too_large', account, moment);
  end if;
  if not (infergate.can_hold(session, amount) and infergate.can_hold(week, amount) and infergate.can_hold(month, amount))
  then
    return infergate.step('too_large', account, moment);
  end if;

  if funds > 0 then
    if plan_left < amount then by_prepaid := amount - greatest(0, plan_left); end if;
    part := jsonb_build_object('prepaidAt', moment, 'prepaid', by_prepaid);
  end if;
  if op ? 'named' then
    part := coalesce(part, '{}') || infergate.hold_limits(account.id, op->'named', amount, moment);
  end if;
  hold := row(
    op->>'id', account.id, amount, amount, 0,
    moment + (op->>'leaseMs')::bigint, moment + (op->>'leaseMs')::bigint, false,
    array[session.starts_at, week.starts_at, month.starts_at],
    array[session.ends_at, week.ends_at, month.ends_at],
    part, array[limits[1], limits[3], limits[8]], null
  );
  insert into infergate.hold select hold.*;
  account.next_expiry := least(account.next_expiry, hold.expires_at);
  if by_prepaid > 0 then
    account.prepaid := infergate.hold_prepaid(account.prepaid, by_prepaid);
    -- The plan has no part in it: no window begins.
    if by_prepaid = amount then return infergate.step('admitted', account, moment, infergate.lease(hold)); end if;
  end if;
  session.held := session.held + amount - by_prepaid;
  week.held := week.held + amount - by_prepaid;
  month.held := month.held + amount - by_prepaid;
  if amount > 0 then account.session := session; end if;
  account.week := week;
  account.month := month;
  return infergate.step('admitted', account, moment, infergate.lease(hold));
end
$$;
`;

/** The renewal of a lease. */
export const renewFunction = /* sql */ `
create function infergate.renew(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  observed constant bigint := op->>'observed';
  known infergate.hold;
  rise bigint;
  status text;
  share bigint;
begin
  select * into known from infergate.hold where id = op->>'id';
  if not found then return infergate.step('closed', account, moment); end if;
  status := infergate.conflict(known, account.id, (op->>'amount')::bigint);
  if status is not null then return infergate.step(status, account, moment); end if;

  known.tags := coalesce(op->'tags', known.tags);
  if known.expired then
    rise := observed - known.checkpoint;
    if rise > 0 then
      known.held := 0;
      share := infergate.prepaid_share(account, known, rise, moment);
      if known.part is null and share = 0 then
        account := infergate.charge_account(account, known.starts, known.ends, 0, rise, moment);
      else
        account := infergate.end_reservation(account, known, rise, share, moment);
      end if;
      update infergate.hold set
        checkpoint = observed, part = infergate.with_paid(known, share), tags = known.tags
        where id = known.id;
      perform infergate.write_checkpoint(known, rise, share, moment);
      perform infergate.add_charge(account.id, moment, 0, rise, share, known.tags);
    end if;
    return infergate.step('expired', account, moment);
  end if;

  rise := observed - known.held;
  -- A hold of nothing stays one: it may have been admitted to no session.
  if rise > 0 and known.held > 0 and infergate.can_hold(account.session, rise)
    and infergate.can_hold(account.week, rise) and infergate.can_hold(account.month, rise)
  then
    known.held := observed;
    if infergate.prepaid_part(known) > 0 then
      account.prepaid := infergate.hold_prepaid(account.prepaid, rise);
    else
      account.session := infergate.with_held(account.session, known.starts[1], rise);
      account.week := infergate.with_held(account.week, known.starts[2], rise);
      account.month := infergate.with_held(account.month, known.starts[3], rise);
    end if;
    if known.part is not null then perform infergate.raise_caps(account.id, known.part, rise); end if;
  end if;
  if known.part is not null and op ? 'uses' then
    known.part := known.part || jsonb_build_object('uses', op->'uses');
  end if;
  update infergate.hold set
    held = known.held,
    part = known.part,
    tags = known.tags,
    checkpoint = greatest(checkpoint, observed),
    expires_at = greatest(expires_at, moment + (op->>'leaseMs')::bigint)
    where id = known.id;
  return infergate.step('renewed', account, moment);
end
$$;
`;

/** The end of a reservation: a settlement or a release. */
export const settleFunction = /* sql */ `
-- The operation tells all of its lease, for an id that is not known here.
create function infergate.settle(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  amount constant bigint := op->>'amount';
  charge bigint := op->>'charge';
  known infergate.hold;
  status text;
  -- What prepaid credits pay of the charge, and what they have paid in all.
  share bigint := 0;
  paid bigint := 0;
begin
  delete from infergate.hold where id = op->>'id' and hold.account = account.id and reserved = amount
    returning * into known;
  if found then
    if known.expired then
      charge := charge - known.checkpoint;
      known.held := 0;
      status := 'late';
    else
      status := 'settled';
    end if;
  else
    select * into known from infergate.find_reservation(op->>'id');
    if found then
      status := infergate.conflict(known, account.id, amount);
      if status is not null then return infergate.step(status, account, moment); end if;
      return infergate.settled('duplicate', account, infergate.paid_at_end(known.id), moment);
    end if;
    known := row(
      op->>'id', account.id, amount, 0, 0, (op->>'expiresAt')::bigint, 0, true,
      infergate.numbers(op->'starts'), infergate.numbers(op->'ends'), op->'part', infergate.numbers(op->'limits'),
      null
    );
    if infergate.is_forgotten(account.id, known.starts[1]) then
      return infergate.step('duplicate', account, moment);
    end if;
    status := 'recovered';
    -- Unknown, but perhaps only dropped from the journal: then it was charged already.
    if exists (
      select from infergate.retention
      where dropped_until >= (op->>'since')::bigint or dropped_until >= known.first_expires_at
    ) then
      insert into infergate.entry (account, at, id, kind, amount, starts, tags) values (
        account.id, moment, known.id, 'unresolved', 0, known.starts,
        coalesce(op->'tags', '{}') || jsonb_build_object('unresolvedMicro', charge)
      );
      return infergate.step('unresolved', account, moment);
    end if;
  end if;

  if account.prepaid is not null or known.part ?| array['prepaidAt', 'paid'] then
    share := infergate.prepaid_share(account, known, charge, moment);
    paid := infergate.paid_before(known) + share;
  end if;
  if known.part is null and share = 0 then
    account := infergate.charge_account(account, known.starts, known.ends, known.held, charge, moment);
  else
    account := infergate.end_reservation(account, known, charge, share, moment);
    perform infergate.end_takes(account.id, known.part, op->'uses', op->>'kind', moment);
  end if;
  insert into infergate.entry (
    account, at, id, kind, amount, prepaid, starts, tags, reserved, first_expires_at, ends, paid
  ) values (
    account.id, moment, known.id, op->>'kind', charge, infergate.entry_prepaid(charge, share),
    infergate.entry_starts(known.starts, charge, share), op->'tags', known.reserved, known.first_expires_at, known.ends,
    case when paid <> share then paid end
  );
  perform infergate.add_charge(account.id, moment, (op->>'kind' = 'charge')::int, charge, share, op->'tags');
  if paid = 0 then return infergate.step(status, account, moment); end if;
  return infergate.settled(status, account, paid, moment);
end
$$;
`;
