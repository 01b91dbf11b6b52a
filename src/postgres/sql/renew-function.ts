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
