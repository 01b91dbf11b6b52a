/** What an operation does with the caps and rates that it names, and with what a hold has beside the windows. */
export const limitFunctions = /* sql */ `
-- Why the caps and rates deny, or null if they do not.
create function infergate.judge_limits(owner text, named jsonb, amount bigint, need bigint, moment bigint)
returns text
language sql stable as $$
  select case
    when bool_or(status = 'clock') then 'clock'
    when bool_or(status = 'denied') then 'denied'
    when bool_or(status = 'too_large') then 'too_large'
  end
  from (
    select case
      when instance is null then 'clock'
      when infergate.lacks(instance, stock, need) then 'denied'
      when not infergate.can_hold(instance, amount) then 'too_large'
    end
    from infergate.open_caps(owner, named->'caps', moment)
    union all
    select case when infergate.bucket_lacks(infergate.bucket_at(owner, rate, moment), rate) then 'denied' end
    from jsonb_array_elements(named->'rates') as rate
  ) as each (status)
$$;

-- Holds in the caps and takes from the buckets. Answers what a hold keeps of it.
create function infergate.hold_limits(owner text, named jsonb, amount bigint, moment bigint) returns jsonb
language plpgsql as $$
declare
  cap record;
  rate jsonb;
  caps jsonb := '[]';
  takes jsonb := '[]';
begin
  for cap in select * from infergate.open_caps(owner, named->'caps', moment) loop
    caps := caps || jsonb_build_object(
      'id', cap.id, 'start', (cap.instance).starts_at, 'end', (cap.instance).ends_at
    );
    continue when amount = 0;
    insert into infergate.cap values (
      owner, cap.id, (cap.instance).starts_at, (cap.instance).ends_at,
      (cap.instance).used, (cap.instance).held + amount
    ) on conflict (account, id) do update set
      starts_at = excluded.starts_at, ends_at = excluded.ends_at, used = excluded.used, held = excluded.held;
  end loop;
  for rate in select value from jsonb_array_elements(named->'rates') loop
    takes := takes || jsonb_build_object('id', rate->'id', 'kind', rate->'kind', 'taken', rate->'take');
    perform infergate.save_bucket(infergate.take_from(infergate.bucket_at(owner, rate, moment), rate));
  end loop;
  return jsonb_build_object('caps', caps, 'takes', takes);
end
$$;

-- Gives back what a hold has held, and charges an amount in its caps and to what pays it.
create function infergate.end_reservation(
  account infergate.account, hold infergate.hold, amount bigint, share bigint, moment bigint
) returns infergate.account
language plpgsql as $$
begin
  perform infergate.charge_caps(account.id, hold.part, hold.held, amount, moment);
  return infergate.charge_split(account, hold, amount, share, moment);
end
$$;

-- The caps and buckets that an operation names, as they are stored.
create function infergate.named_limits(owner text, named jsonb) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'caps', (
      select jsonb_agg(to_jsonb(cap) - 'account') from infergate.cap
      where cap.account = owner
        and cap.id = any (array(select value->>'id' from jsonb_array_elements(named->'caps')))
    ),
    'buckets', (
      select jsonb_agg(to_jsonb(bucket) - 'account') from infergate.bucket
      where bucket.account = owner
        and bucket.id = any (array(select value->>'id' from jsonb_array_elements(named->'rates')))
    )
  )
$$;

-- The same as they are once the holds that are due have ended. Changes nothing.
create function infergate.named_without_expired(owner text, named jsonb, moment bigint) returns jsonb
language plpgsql stable as $$
declare
  wanted text;
  due infergate.hold;
  piece jsonb;
  instance infergate.instance;
  bucket infergate.bucket;
  caps jsonb := '[]';
  buckets jsonb := '[]';
begin
  for wanted in select value->>'id' from jsonb_array_elements(named->'caps') loop
    instance := infergate.stored_cap(owner, wanted);
    for due in select * from infergate.due_holds(owner, moment) loop
      for piece in select value from jsonb_array_elements(due.part->'caps') where value->>'id' = wanted loop
        instance := infergate.charged_cap(instance, piece, due.held, due.checkpoint, moment);
      end loop;
    end loop;
    caps := caps || (to_jsonb(instance) || jsonb_build_object('id', wanted));
  end loop;
  for wanted in select value->>'id' from jsonb_array_elements(named->'rates') loop
    select * into bucket from infergate.bucket as stored where stored.account = owner and stored.id = wanted;
    continue when not found;
    for due in select * from infergate.due_holds(owner, moment) loop
      for piece in select value from jsonb_array_elements(due.part->'takes') where value->>'id' = wanted loop
        bucket := infergate.after_take(
          bucket, piece, infergate.used_of(piece, due.part->'uses', 'expiry'), moment
        );
      end loop;
    end loop;
    buckets := buckets || (to_jsonb(bucket) - 'account');
  end loop;
  return jsonb_build_object('caps', caps, 'buckets', buckets);
end
$$;

-- named: the caps and rates to show, or null.
create function infergate.balance_of(wanted text, named jsonb) returns jsonb
language plpgsql stable set enable_seqscan = off as $$
declare
  account infergate.account;
  moment constant bigint := infergate.clock_ms();
  answer jsonb;
begin
  select * into account from infergate.account where id = wanted;
  if not found then account := infergate.empty_account(wanted); end if;
  answer := infergate.answer('balance', infergate.without_expired(account, moment), moment);
  if named is null then return answer; end if;
  return answer || infergate.named_without_expired(wanted, named, moment);
end
$$;
`;

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
