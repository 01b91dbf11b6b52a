/** Caps: instances as those of windows, with the same arithmetic. */
export const capFunctions = /* sql */ `
create function infergate.stored_cap(owner text, wanted text) returns infergate.instance
language sql stable as $$
  select coalesce(
    (
      select row(starts_at, ends_at, used, held, 0)::infergate.instance
      from infergate.cap where cap.account = owner and cap.id = wanted
    ),
    infergate.no_instance()
  )
$$;

-- The caps that an operation names, as they are at a moment. An instance is null where the bounds miss it.
create function infergate.open_caps(owner text, caps jsonb, moment bigint)
returns table (id text, stock bigint, instance infergate.instance)
language sql stable as $$
  select cap->>'id', (cap->>'limit')::bigint,
    infergate.calendar_at(infergate.stored_cap(owner, cap->>'id'), infergate.numbers(cap->'bounds'), moment)
  from jsonb_array_elements(caps) as cap
$$;

-- Gives back what was held in the instance, and charges an amount in its place.
create function infergate.charged_cap(
  instance infergate.instance, leased jsonb, held bigint, amount bigint, moment bigint
) returns infergate.instance
language plpgsql immutable as $$
begin
  instance := infergate.charged(
    instance, (leased->>'start')::bigint, (leased->>'end')::bigint, held, amount, moment
  );
  -- One in which nothing is used or held is as if it had never begun.
  if instance.used = 0 and instance.held = 0 then return infergate.no_instance(); end if;
  return instance;
end
$$;

create function infergate.charge_caps(owner text, part jsonb, held bigint, amount bigint, moment bigint) returns void
language plpgsql as $$
declare
  leased jsonb;
  instance infergate.instance;
begin
  for leased in select value from jsonb_array_elements(part->'caps') loop
    instance := infergate.charged_cap(infergate.stored_cap(owner, leased->>'id'), leased, held, amount, moment);
    if instance.used = 0 and instance.held = 0 then
      delete from infergate.cap where cap.account = owner and cap.id = leased->>'id';
    else
      insert into infergate.cap values (
        owner, leased->>'id', instance.starts_at, instance.ends_at, instance.used, instance.held
      ) on conflict (account, id) do update set
        starts_at = excluded.starts_at, ends_at = excluded.ends_at, used = excluded.used, held = excluded.held;
    end if;
  end loop;
end
$$;

create function infergate.raise_caps(owner text, part jsonb, rise bigint) returns void
language sql as $$
  update infergate.cap set held = held + rise
  from jsonb_array_elements(part->'caps') as leased
  where cap.account = owner and cap.id = leased->>'id' and cap.starts_at = (leased->>'start')::bigint
$$;
`;
