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
