/** The arithmetic of window instances: the same as src/ledger/account-state.ts. Nothing here reads or writes a table. */
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
