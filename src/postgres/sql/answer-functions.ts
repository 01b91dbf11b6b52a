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
