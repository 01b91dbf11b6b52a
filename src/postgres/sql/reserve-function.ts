/** The admission of a reservation. */
export const reserveFunction = /* sql */ `
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
  status text;
begin
  if week is null or month is null then return infergate.step('clock', account, moment); end if;

  select * into hold from infergate.find_reservation(op->>'id');
  if found then
    status := infergate.conflict(hold, account.id, amount);
    if status is not null then return infergate.step(status, account, moment); end if;
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
    op->>'id', account.id, amount, amount, 0,
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
`;
