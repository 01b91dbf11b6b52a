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
