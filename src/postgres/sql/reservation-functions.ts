/** Reservations from their admission to their end. */
export const reservationFunctions = /* sql */ `
-- An account after an operation, and what the operation answers.
create type infergate.step as (account infergate.account, answer jsonb);

create function infergate.answer(
  status text, account infergate.account, moment bigint, lease jsonb default null
) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'status', status,
    'now', moment,
    'windows', jsonb_build_array(to_jsonb(account.session), to_jsonb(account.week), to_jsonb(account.month)),
    'lease', lease
  )
$$;

create function infergate.step(
  status text, account infergate.account, moment bigint, lease jsonb default null
) returns infergate.step
language sql stable as $$
  select row(account, infergate.answer(status, account, moment, lease))::infergate.step
$$;

-- What is known of an id: of an open or expired hold, or of the entry that ended it. In this order: it may end meanwhile.
create function infergate.find_reservation(wanted text) returns setof infergate.hold
language sql stable as $$
  select * from infergate.hold where id = wanted
  union all
  select id, subject, reserved, 0, 0, first_expires_at, 0, true, starts, ends
    from infergate.entry where id = wanted and kind in ('charge', 'release')
  limit 1
$$;

create function infergate.lease(hold infergate.hold) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'amount', hold.reserved, 'expiresAt', hold.first_expires_at,
    'starts', to_jsonb(hold.starts), 'ends', to_jsonb(hold.ends)
  )
$$;

-- limits: the session's limit and length, then of the week and of the month the limit and four bounds.
create function infergate.reserve(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  limits constant bigint[] := infergate.numbers(op->'limits');
  amount constant bigint := op->>'amount';
  need constant bigint := op->>'need';
  session infergate.instance := infergate.session_at(account.session, limits[2], moment);
  week infergate.instance := infergate.calendar_at(account.week, limits[4:7], moment);
  month infergate.instance := infergate.calendar_at(account.month, limits[9:12], moment);
  hold infergate.hold;
begin
  if week is null or month is null then return infergate.step('clock', account, moment); end if;

  select * into hold from infergate.find_reservation(op->>'id');
  if found then
    if hold.subject <> account.subject then return infergate.step('other_subject', account, moment); end if;
    if hold.reserved <> amount then return infergate.step('other_amount', account, moment); end if;
    return infergate.step('replayed', account, moment, infergate.lease(hold));
  end if;

  if infergate.lacks(session, limits[1], need)
    or infergate.lacks(week, limits[3], need)
    or infergate.lacks(month, limits[8], need)
  then
    return infergate.step('denied', account, moment);
  end if;
  if not (infergate.can_hold(session, amount) and infergate.can_hold(week, amount) and infergate.can_hold(month, amount))
  then
    return infergate.step('too_large', account, moment);
  end if;

  hold := row(
    op->>'id', account.subject, amount, amount, 0,
    moment + (op->>'leaseMs')::bigint, moment + (op->>'leaseMs')::bigint, false,
    array[session.starts_at, week.starts_at, month.starts_at],
    array[session.ends_at, week.ends_at, month.ends_at]
  );
  insert into infergate.hold select hold.*;
  session.held := session.held + amount;
  week.held := week.held + amount;
  month.held := month.held + amount;
  if amount > 0 then account.session := session; end if;
  account.week := week;
  account.month := month;
  account.next_expiry := least(account.next_expiry, hold.expires_at);
  return infergate.step('admitted', account, moment, infergate.lease(hold));
end
$$;

create function infergate.renew(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  observed constant bigint := op->>'observed';
  known infergate.hold;
  rise bigint;
begin
  select * into known from infergate.hold where id = op->>'id';
  if not found then return infergate.step('closed', account, moment); end if;
  if known.subject <> account.subject then return infergate.step('other_subject', account, moment); end if;
  if known.reserved <> (op->>'amount')::bigint then return infergate.step('other_amount', account, moment); end if;

  if known.expired then
    rise := observed - known.checkpoint;
    if rise > 0 then
      update infergate.hold set checkpoint = observed where id = known.id;
      account := infergate.charge_account(account, known.starts, known.ends, 0, rise, moment);
      insert into infergate.entry (subject, at, id, kind, amount, starts)
        values (known.subject, moment, known.id, 'checkpoint', rise, known.starts);
    end if;
    return infergate.step('expired', account, moment);
  end if;

  rise := observed - known.held;
  -- A hold of nothing stays one: it may have been admitted to no session.
  if rise > 0 and known.held > 0 and infergate.can_hold(account.session, rise)
    and infergate.can_hold(account.week, rise) and infergate.can_hold(account.month, rise)
  then
    known.held := observed;
    account.session := infergate.with_held(account.session, known.starts[1], rise);
    account.week := infergate.with_held(account.week, known.starts[2], rise);
    account.month := infergate.with_held(account.month, known.starts[3], rise);
  end if;
  update infergate.hold set
    held = known.held,
    checkpoint = greatest(checkpoint, observed),
    expires_at = greatest(expires_at, moment + (op->>'leaseMs')::bigint)
    where id = known.id;
  return infergate.step('renewed', account, moment);
end
$$;

-- kind: charge or release. lease: what the caller says was reserved, for an id that is not known here.
create function infergate.settle(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  charge bigint := op->>'charge';
  kind text := op->>'kind';
  known infergate.hold;
  status text;
begin
  delete from infergate.hold
    where id = op->>'id' and subject = account.subject and reserved = (op->>'amount')::bigint
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
      if known.subject <> account.subject then return infergate.step('other_subject', account, moment); end if;
      if known.reserved <> (op->>'amount')::bigint then return infergate.step('other_amount', account, moment); end if;
      return infergate.step('duplicate', account, moment);
    end if;
    known := row(
      op->>'id', account.subject, (op->>'amount')::bigint, 0, 0, (op->>'expiresAt')::bigint, 0, true,
      infergate.numbers(op->'starts'), infergate.numbers(op->'ends')
    );
    status := 'recovered';
    -- Unknown, but perhaps only dropped from the journal: then it was charged already.
    if exists (
      select from infergate.retention
      where dropped_until >= (op->>'since')::bigint or dropped_until >= known.first_expires_at
    ) then
      insert into infergate.entry (subject, at, id, kind, amount, starts, tags) values (
        account.subject, moment, known.id, 'unresolved', 0, known.starts,
        coalesce(op->'tags', '{}') || jsonb_build_object('unresolvedMicro', charge)
      );
      return infergate.step('unresolved', account, moment);
    end if;
  end if;

  account := infergate.charge_account(account, known.starts, known.ends, known.held, charge, moment);
  insert into infergate.entry (subject, at, id, kind, amount, starts, tags, reserved, first_expires_at, ends) values (
    account.subject, moment, known.id, kind, charge, known.starts,
    op->'tags', known.reserved, known.first_expires_at, known.ends
  );
  return infergate.step(status, account, moment);
end
$$;
`;
