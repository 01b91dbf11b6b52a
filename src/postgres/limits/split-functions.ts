import { costTag } from "../../metering/tags.js";
import { unitTags } from "../usage/unit-columns.js";

/** How the plan and prepaid credits pay a charge together: the same as src/ledger/limits/prepaid-share.ts. */
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
