/** What every operation on an account begins with, and how a hold's end changes it. */
export const accountFunctions = /* sql */ `
create function infergate.empty_account(id text) returns infergate.account
language sql immutable as $$
  select row(
    id, infergate.no_instance(), infergate.no_instance(), infergate.no_instance(), 9223372036854775807, null
  )::infergate.account
$$;

create function infergate.lock_account(wanted text) returns infergate.account
language plpgsql as $$
declare
  account infergate.account;
begin
  loop
    select * into account from infergate.account where id = wanted for update;
    if found then return account; end if;
    -- It may be forgotten again before it is locked.
    insert into infergate.account select (infergate.empty_account(wanted)).* on conflict do nothing;
  end loop;
end
$$;

-- Ends a hold, or corrects an earlier charge, in those instances of the admission that are still the newest.
create function infergate.charge_account(
  account infergate.account, starts bigint[], ends bigint[], held bigint, amount bigint, moment bigint
) returns infergate.account
language plpgsql immutable as $$
begin
  account.session := infergate.charged(account.session, starts[1], ends[1], held, amount, moment);
  account.week := infergate.charged(account.week, starts[2], ends[2], held, amount, moment);
  account.month := infergate.charged(account.month, starts[3], ends[3], held, amount, moment);
  return infergate.without_empty_session(account);
end
$$;

-- A session in which nothing is used, held or granted is as if it had never been opened.
create function infergate.without_empty_session(account infergate.account) returns infergate.account
language plpgsql immutable as $$
begin
  if (account.session).used = 0 and (account.session).held = 0 and (account.session).bonus = 0 then
    account.session := infergate.no_instance();
  end if;
  return account;
end
$$;

-- In the order in which they died: one may close a session that another would charge.
create function infergate.due_holds(owner text, moment bigint) returns setof infergate.hold
language sql stable as $$
  select * from infergate.hold where hold.account = owner and not expired and expires_at <= moment
  order by expires_at, id collate "C"
$$;

-- The account as it is once the holds that are due have ended. Changes nothing.
create function infergate.without_expired(account infergate.account, moment bigint) returns infergate.account
language plpgsql stable as $$
declare
  due infergate.hold;
  share bigint;
begin
  if moment < account.next_expiry then return account; end if;
  for due in select * from infergate.due_holds(account.id, moment) loop
    share := infergate.prepaid_share(account, due, due.checkpoint, moment);
    account := infergate.charge_split(account, due, due.checkpoint, share, moment);
  end loop;
  return account;
end
$$;

-- What an expiry, or a renewal after it, has charged, and what prepaid credits paid of it.
create function infergate.write_checkpoint(hold infergate.hold, amount bigint, share bigint, moment bigint) returns void
language plpgsql as $$
begin
  insert into infergate.entry (account, at, id, kind, amount, prepaid, starts, tags) values (
    hold.account, moment, hold.id, 'checkpoint', amount, infergate.entry_prepaid(amount, share),
    infergate.entry_starts(hold.starts, amount, share), hold.tags
  );
end
$$;

-- Ends the holds that are due, charging the cost seen by their last renewals.
create function infergate.expire_holds(account infergate.account, moment bigint) returns infergate.account
language plpgsql as $$
declare
  horizon constant bigint := moment + 1000;
  due infergate.hold;
  share bigint;
  by_plan numeric := 0;
  by_prepaid numeric := 0;
begin
  if moment < account.next_expiry then return account; end if;
  for due in select * from infergate.due_holds(account.id, moment) loop
    share := infergate.prepaid_share(account, due, due.checkpoint, moment);
    if due.part is null and share = 0 then
      account := infergate.charge_account(account, due.starts, due.ends, due.held, due.checkpoint, moment);
    else
      account := infergate.end_reservation(account, due, due.checkpoint, share, moment);
      perform infergate.end_takes(account.id, due.part, due.part->'uses', 'expiry', moment);
    end if;
    continue when due.checkpoint = 0;
    perform infergate.write_checkpoint(due, due.checkpoint, share, moment);
    if due.part ? 'prepaidAt' or share <> 0 then
      update infergate.hold set part = infergate.with_paid(due, share) where id = due.id;
    end if;
    if due.tags is not null then
      perform infergate.add_charge(account.id, moment, 0, due.checkpoint, share, due.tags);
      continue;
    end if;
    by_plan := by_plan + due.checkpoint - share;
    by_prepaid := by_prepaid + share;
  end loop;
  if found then
    -- What it had taken of buckets has gone back: a settlement after this changes none.
    update infergate.hold set expired = true, part = part - 'takes' - 'uses'
      where hold.account = account.id and not expired and expires_at <= moment;
    -- Once for all of them: there may be thousands.
    perform infergate.add_usage(account.id, moment, 0, least(by_plan, 9007199254740991)::bigint, false, null);
    perform infergate.add_usage(account.id, moment, 0, least(by_prepaid, 9007199254740991)::bigint, true, null);
  end if;
  -- Not the earliest of all: to find that, one would have to pass by every hold that was settled lately.
  account.next_expiry := coalesce(
    (
      select min(expires_at) from infergate.hold
      where hold.account = account.id and not expired and expires_at between moment and horizon
    ),
    horizon + 1
  );
  return account;
end
$$;
`;

/** The arithmetic of window instances: the same as src/ledger/rules/windows.ts. Nothing here reads or writes a table. */
export const windowFunctions = /* sql */ `
create function infergate.new_instance(starts_at bigint, ends_at bigint) returns infergate.instance
language sql immutable as $$
  select row(starts_at, ends_at, 0, 0, 0)::infergate.instance
$$;

-- Of a window of which nothing is known: it ended before all time.
create function infergate.no_instance() returns infergate.instance
language sql immutable as $$
  select row(-9007199254740991, -9007199254740991, 0, 0, 0)::infergate.instance
$$;

-- A JSON array of numbers.
create function infergate.numbers(list jsonb) returns bigint[]
language sql stable as $$
  select translate(list::text, '[]', '{}')::bigint[]
$$;

-- The session that an admission at this moment belongs to.
create function infergate.session_at(stored infergate.instance, length_ms bigint, moment bigint)
returns infergate.instance
language plpgsql immutable as $$
begin
  if moment < stored.ends_at then return stored; end if;
  return infergate.new_instance(moment, moment + length_ms);
end
$$;

-- The week or month that holds this moment, or null where the bounds miss it.
create function infergate.calendar_at(stored infergate.instance, bounds bigint[], moment bigint)
returns infergate.instance
language plpgsql immutable as $$
declare
  interval_index int;
begin
  if moment < bounds[1] or moment >= bounds[4] then return null; end if;
  interval_index := case when moment < bounds[2] then 1 when moment < bounds[3] then 2 else 3 end;
  -- It keeps its announced end: an anchor that moves, or a clock that steps back, must not refill.
  if moment < stored.ends_at then return stored; end if;
  -- After the anchor has moved, an interval may have begun no later: its start would not tell it from the stored one.
  return infergate.new_instance(
    case when bounds[interval_index] > stored.starts_at then bounds[interval_index] else stored.ends_at end,
    bounds[interval_index + 1]
  );
end
$$;

-- What is left in the instance that no call holds. Null: it has no limit.
create function infergate.left_in(instance infergate.instance, stock bigint) returns bigint
language sql immutable as $$
  select case when stock is not null then greatest(0, stock + instance.bonus - instance.used) - instance.held end
$$;

-- What may still be charged, for a call that was admitted to the instance of that time, when this is the newest one. Holds do
-- not count. Null: nothing limits it, or it is over.
create function infergate.room_in(
  newest infergate.instance, starts_at bigint, ends_at bigint, stock bigint, moment bigint
) returns bigint
language sql immutable as $$
  select case
    when stock is null or ends_at <= moment then null
    when newest.starts_at = starts_at then greatest(0, stock + newest.bonus - newest.used)
    -- One that was not stored is as if nothing had been charged to it. A charge makes it the newest.
    when infergate.is_later(newest, starts_at, ends_at, moment) then stock
  end
$$;

-- Whether an open instance is later than the newest known one: its session was closed or never stored, or the state was
-- lost. It is stored again, unless the known one is open, too.
create function infergate.is_later(newest infergate.instance, starts_at bigint, ends_at bigint, moment bigint)
returns boolean
language sql immutable as $$
  select newest.starts_at < starts_at and newest.ends_at <= moment and moment < ends_at
$$;

create function infergate.lacks(instance infergate.instance, stock bigint, need bigint) returns boolean
language sql immutable as $$
  select stock is not null and instance.used + instance.held + need > stock + instance.bonus
$$;

create function infergate.can_hold(instance infergate.instance, amount bigint) returns boolean
language sql immutable as $$
  select instance.held + amount <= 9007199254740991
$$;

-- Holds more in the instance that began then.
create function infergate.with_held(instance infergate.instance, starts_at bigint, rise bigint)
returns infergate.instance
language plpgsql immutable as $$
begin
  if instance.starts_at = starts_at then instance.held := instance.held + rise; end if;
  return instance;
end
$$;

-- Gives back what was held in the instance that began then, and charges an amount in its place.
create function infergate.charged(
  instance infergate.instance, starts_at bigint, ends_at bigint, held bigint, amount bigint, moment bigint
) returns infergate.instance
language plpgsql immutable as $$
begin
  if instance.starts_at = starts_at then
    instance.held := instance.held - held;
  elsif amount > 0 and infergate.is_later(instance, starts_at, ends_at, moment) then
    instance := infergate.new_instance(starts_at, ends_at);
  else
    return instance;
  end if;
  instance.used := least(greatest(0, instance.used + amount), 9007199254740991);
  return instance;
end
$$;
`;
