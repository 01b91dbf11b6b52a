import { costTag } from "../../../prices/tags.js";
import { unitTags } from "../usage/unit-columns.js";

/** The arithmetic of prepaid credits: the same as src/ledger/rules/prepaid.ts. */
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

/** How the plan and prepaid credits pay a charge together: the same as src/ledger/rules/account-limits.ts. */
export const splitFunctions = /* sql */ `
-- What a hold had of prepaid credits at its admission; the windows have the rest.
create function infergate.prepaid_part(hold infergate.hold) returns bigint
language sql immutable as $$
  select coalesce((hold.part->>'prepaid')::bigint, 0)
$$;

-- What it has of them now. What it was raised by since is prepaid where some of it was.
create function infergate.prepaid_held(hold infergate.hold) returns bigint
language plpgsql immutable as $$
declare
  of_reserved constant bigint := infergate.prepaid_part(hold);
begin
  if of_reserved = 0 or hold.held = 0 then return 0; end if;
  return hold.held - (hold.reserved - of_reserved);
end
$$;

-- What prepaid credits have paid for a hold, by its expiry and by renewals after it.
create function infergate.paid_before(hold infergate.hold) returns bigint
language sql immutable as $$
  select coalesce((hold.part->>'paid')::bigint, 0)
$$;

create function infergate.with_paid(hold infergate.hold, share bigint) returns jsonb
language sql immutable as $$
  select case
    when share <> 0 or hold.part ? 'prepaidAt'
      then coalesce(hold.part, '{}') || jsonb_build_object('paid', infergate.paid_before(hold) + share)
    else hold.part
  end
$$;

-- What prepaid credits have paid in all for a reservation that has ended.
create function infergate.paid_at_end(wanted text) returns bigint
language sql stable as $$
  select coalesce(paid, infergate.prepaid_of(entry)) from infergate.entry
  where id = wanted and kind in ('charge', 'release')
$$;

-- What prepaid credits paid of an entry that charges. Where it does not say, it is all if it names no window.
create function infergate.prepaid_of(entry infergate.entry) returns bigint
language sql immutable as $$
  select coalesce(
    entry.prepaid,
    case when entry.starts[1] is null and entry.starts[2] is null and entry.starts[3] is null then entry.amount else 0 end
  )
$$;

-- What an entry says of it.
create function infergate.entry_prepaid(amount bigint, share bigint) returns bigint
language sql immutable as $$
  select case when share <> 0 and share <> amount then share end
$$;

-- An entry that prepaid credits pay alone names no window. A repetition still needs them: they come after three nulls.
create function infergate.entry_starts(starts bigint[], amount bigint, share bigint) returns bigint[]
language sql immutable as $$
  select case when share <> 0 and share = amount then array[null, null, null]::bigint[] || starts else starts end
$$;

-- What the plan may still be charged for a call: the least that is left in the windows of its admission. Null: nothing
-- limits it.
create function infergate.room_of(account infergate.account, hold infergate.hold, moment bigint) returns bigint
language plpgsql immutable as $$
begin
  return least(
    infergate.room_in(account.session, hold.starts[1], hold.ends[1], hold.limits[1], moment),
    infergate.room_in(account.week, hold.starts[2], hold.ends[2], hold.limits[2], moment),
    infergate.room_in(account.month, hold.starts[3], hold.ends[3], hold.limits[3], moment)
  );
end
$$;

-- How much of a charge prepaid credits pay. What is given back goes to them first, as far as they had paid.
create function infergate.prepaid_share(
  account infergate.account, hold infergate.hold, charge bigint, moment bigint
) returns bigint
language plpgsql immutable as $$
declare
  held constant bigint := infergate.prepaid_part(hold);
  admitted_at constant bigint := coalesce((hold.part->>'prepaidAt')::bigint, moment);
  room bigint;
begin
  if charge < 0 then return -least(-charge, infergate.paid_before(hold)); end if;
  if held = 0 and coalesce(infergate.prepaid_balance(account.prepaid, admitted_at) <= 0, true) then return 0; end if;
  room := infergate.room_of(account, hold, moment);
  -- The plan, which had nothing left at the admission, does not pay for it once its windows are over.
  if room is null and held > 0 and held = hold.reserved then return charge; end if;
  return charge - least(charge, room);
end
$$;

-- Gives back what a hold has held, and charges an amount: a share of it to prepaid credits, and the rest to the windows.
create function infergate.charge_split(
  account infergate.account, hold infergate.hold, amount bigint, share bigint, moment bigint
) returns infergate.account
language plpgsql immutable as $$
declare
  held bigint := 0;
begin
  if hold.part ? 'prepaidAt' then held := infergate.prepaid_held(hold); end if;
  if held > 0 or share <> 0 then
    account.prepaid := infergate.charged_prepaid(
      account.prepaid, held, share, coalesce((hold.part->>'prepaidAt')::bigint, moment)
    );
  end if;
  return infergate.charge_account(account, hold.starts, hold.ends, hold.held - held, amount - share, moment);
end
$$;

-- Adds a charge to the sums of who paid it. Its call and its tokens are in those of the plan, unless that paid nothing.
create function infergate.add_charge(
  owner text, moment bigint, calls int, amount bigint, share bigint, entry_tags jsonb
) returns void
language plpgsql as $$
begin
  if share = 0 or share = amount then
    perform infergate.add_usage(owner, moment, calls, amount, share <> 0, entry_tags);
    return;
  end if;
  perform infergate.add_usage(owner, moment, calls, amount - share, false, entry_tags);
  perform infergate.add_usage(
    owner, moment, 0, share, true,
    entry_tags - array['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] - ${unitTags}
      || case when entry_tags ? '${costTag}' then '{"${costTag}": 0}' else '{}' end::jsonb
  );
end
$$;
`;
