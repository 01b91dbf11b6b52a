/** The arithmetic of prepaid credits: the same as src/ledger/limits/prepaid.ts. */
export const prepaidFunctions = /* sql */ `
create function infergate.no_prepaid() returns infergate.prepaid
language sql immutable as $$
  select row('{}'::bigint[], '{}'::bigint[], 0, 0)::infergate.prepaid
$$;

-- What is left of the lots that have not expired, less what is overdrawn. Null where there have never been any.
create function infergate.prepaid_balance(prepaid infergate.prepaid, moment bigint) returns bigint
language sql immutable as $$
  select coalesce(sum(amount) filter (where moment < expiry), 0)::bigint - prepaid.overdrawn
  from unnest(prepaid.expiries, prepaid.amounts) as lot (expiry, amount)
$$;

create function infergate.hold_prepaid(prepaid infergate.prepaid, amount bigint) returns infergate.prepaid
language plpgsql immutable as $$
begin
  prepaid.held := prepaid.held + amount;
  return prepaid;
end
$$;

-- Null where there are too many lots.
create function infergate.with_lot(prepaid infergate.prepaid, amount bigint, expiry bigint) returns infergate.prepaid
language plpgsql immutable as $$
declare
  place int := 1;
begin
  while prepaid.expiries[place] < expiry loop place := place + 1; end loop;
  if prepaid.expiries[place] = expiry then
    prepaid.amounts[place] := prepaid.amounts[place] + amount;
    return prepaid;
  end if;
  if cardinality(prepaid.expiries) >= 100 then return null; end if;
  prepaid.expiries := prepaid.expiries[:place - 1] || expiry || prepaid.expiries[place:];
  prepaid.amounts := prepaid.amounts[:place - 1] || amount || prepaid.amounts[place:];
  return prepaid;
end
$$;

-- Drops lots of which nothing is left. What had some once keeps an empty one.
create function infergate.without_empty_lots(prepaid infergate.prepaid) returns infergate.prepaid
language plpgsql immutable as $$
begin
  if 0 = any (prepaid.amounts) then
    select coalesce(array_agg(expiry order by expiry), '{}'), coalesce(array_agg(amount order by expiry), '{}')
      into prepaid.expiries, prepaid.amounts
      from unnest(prepaid.expiries, prepaid.amounts) as lot (expiry, amount) where amount > 0;
  end if;
  return prepaid;
end
$$;

-- Gives back what was held, and charges what the call cost: it can use lots that have expired since its admission. A
-- negative amount gives back.
create function infergate.charged_prepaid(
  prepaid infergate.prepaid, held bigint, amount bigint, admitted_at bigint
) returns infergate.prepaid
language plpgsql immutable as $$
declare
  due bigint := abs(amount);
  paid bigint;
begin
  prepaid := coalesce(prepaid, infergate.no_prepaid());
  prepaid.held := prepaid.held - held;
  if amount < 0 then
    paid := least(prepaid.overdrawn, due);
    prepaid.overdrawn := prepaid.overdrawn - paid;
    if due > paid then
      prepaid := infergate.with_lot(prepaid, due - paid, coalesce(prepaid.expiries[1], 9007199254740991));
    end if;
    return infergate.without_empty_lots(prepaid);
  end if;
  for place in 1 .. cardinality(prepaid.expiries) loop
    continue when prepaid.expiries[place] <= admitted_at;
    paid := least(prepaid.amounts[place], due);
    prepaid.amounts[place] := prepaid.amounts[place] - paid;
    due := due - paid;
  end loop;
  prepaid.overdrawn := least(prepaid.overdrawn + due, 9007199254740991);
  return infergate.without_empty_lots(prepaid);
end
$$;

-- Drops lots that have expired, but for those that an open call may still need: it was admitted before, and found prepaid
-- credits. One that found none only ever uses what has not expired.
create function infergate.lapse(account infergate.account, moment bigint) returns infergate.account
language plpgsql as $$
declare
  prepaid infergate.prepaid := account.prepaid;
  until bigint;
begin
  if coalesce(moment < prepaid.expiries[1], true) then return account; end if;
  -- The most common answer first: it is found at once.
  if exists (
    select from infergate.hold
    where hold.account = account.id and not expired and (part->>'prepaidAt')::bigint < prepaid.expiries[1]
  ) then
    return account;
  end if;
  until := least(moment, (
    select min((part->>'prepaidAt')::bigint) from infergate.hold where hold.account = account.id and not expired
  ));
  for place in 1 .. cardinality(prepaid.expiries) loop
    exit when until < prepaid.expiries[place];
    insert into infergate.entry (account, at, id, kind, amount, starts, tags) values (
      account.id, moment, 'expiry_' || gen_random_uuid(), 'expiry', -prepaid.amounts[place],
      array[null, null, null]::bigint[], jsonb_build_object('endedAt', prepaid.expiries[place])
    );
    prepaid.amounts[place] := 0;
  end loop;
  account.prepaid := infergate.without_empty_lots(prepaid);
  return account;
end
$$;

-- What a top-up or deduction comes to whose id is known, or null. A deduction has a negative amount.
create function infergate.earlier_top_up(owner text, wanted text, amount bigint, expiry bigint) returns text
language sql stable as $$
  select case
    when known.account <> owner then 'other_account'
    when known.amount <> earlier_top_up.amount then 'other_amount'
    when known.expires_at <> expiry then 'other_expiry'
    else 'repeated'
  end
  from infergate.top_up as known where known.id = wanted
$$;

create function infergate.top_up(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  bought constant bigint := op->>'amount';
  expiry constant bigint := op->>'expiresAt';
  prepaid infergate.prepaid := coalesce(account.prepaid, infergate.no_prepaid());
  paid bigint;
  earlier constant text := infergate.earlier_top_up(account.id, op->>'id', bought, expiry);
begin
  if earlier is not null then return infergate.step(earlier, account, moment); end if;
  if expiry <= moment then return infergate.step('past_expiry', account, moment); end if;
  if (select coalesce(sum(amount), 0) + bought > 9007199254740991 from unnest(prepaid.amounts) as amount) then
    return infergate.step('too_large', account, moment);
  end if;

  paid := least(prepaid.overdrawn, bought);
  if bought > paid then prepaid := infergate.with_lot(prepaid, bought - paid, expiry); end if;
  if prepaid is null then return infergate.step('too_many_lots', account, moment); end if;
  prepaid.overdrawn := prepaid.overdrawn - paid;
  account.prepaid := infergate.without_empty_lots(prepaid);
  insert into infergate.top_up values (op->>'id', account.id, bought, expiry, moment);
  insert into infergate.entry (account, at, id, kind, amount, starts, tags)
    values (account.id, moment, op->>'id', 'topup', bought, array[null, null, null]::bigint[], op->'tags');
  return infergate.step('topped_up', account, moment);
end
$$;

-- Answers whether the id of a top-up or deduction is this account's, from now on or already. The account itself may be in
-- another database.
create function infergate.claim_top_up(wanted text, owner text) returns boolean
language plpgsql as $$
begin
  if exists (select from infergate.top_up where id = wanted and account <> owner) then return false; end if;
  insert into infergate.top_up_claim as claim values (wanted, infergate.digest(owner), infergate.clock_ms())
    on conflict (id) do update set at = greatest(claim.at, excluded.at) where claim.account = excluded.account;
  return found;
end
$$;

-- Takes back what expires first. The rest is overdrawn.
create function infergate.deduct(account infergate.account, op jsonb, moment bigint) returns infergate.step
language plpgsql as $$
declare
  taken constant bigint := op->>'amount';
  never constant bigint := 9007199254740991;
  earlier constant text := infergate.earlier_top_up(account.id, op->>'id', -taken, never);
begin
  if earlier is not null then return infergate.step(earlier, account, moment); end if;
  account.prepaid := infergate.charged_prepaid(account.prepaid, 0, taken, moment);
  insert into infergate.top_up values (op->>'id', account.id, -taken, never, moment);
  insert into infergate.entry (account, at, id, kind, amount, starts, tags)
    values (account.id, moment, op->>'id', 'deduction', -taken, array[null, null, null]::bigint[], op->'tags');
  return infergate.step('deducted', account, moment);
end
$$;
`;
