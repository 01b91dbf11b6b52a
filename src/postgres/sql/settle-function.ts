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
