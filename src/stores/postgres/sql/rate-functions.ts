/** The arithmetic of token buckets: the same as src/ledger/rules/rates.ts. A request or token has 60,000 parts. */
export const rateFunctions = /* sql */ `
-- The bucket as it is at a moment, by its own limit. A step back by a second at the most is no step. A clock that was put back
-- by more fills nothing, and goes on from there.
create function infergate.filled_bucket(bucket infergate.bucket, moment bigint) returns infergate.bucket
language plpgsql immutable as $$
declare
  capacity constant bigint := bucket.burst * 60000;
  at constant bigint := case when bucket.at - moment between 0 and 1000 then bucket.at else moment end;
  elapsed bigint := at - bucket.at;
begin
  -- The time to full is enough. The product of more could be too large.
  if bucket.per_minute > 0 then
    elapsed := least(elapsed, (capacity - bucket.level) / bucket.per_minute + 1);
  end if;
  bucket.level := least(bucket.level + greatest(0, elapsed) * bucket.per_minute, capacity);
  bucket.at := at;
  return bucket;
end
$$;

-- Whether it is as good as unknown: full, and no lease has taken anything of it.
create function infergate.is_idle(bucket infergate.bucket, moment bigint) returns boolean
language plpgsql immutable as $$
declare
  filled constant infergate.bucket := infergate.filled_bucket(bucket, moment);
begin
  return bucket.held = 0 and filled.level >= bucket.burst * 60000;
end
$$;

-- By the limit of a reservation.
create function infergate.bucket_at(owner text, rate jsonb, moment bigint) returns infergate.bucket
language plpgsql stable as $$
declare
  capacity constant bigint := (rate->>'burst')::bigint * 60000;
  bucket infergate.bucket;
begin
  select * into bucket from infergate.bucket as stored where stored.account = owner and stored.id = rate->>'id';
  if not found or infergate.is_idle(bucket, moment) then
    bucket := row(owner, rate->>'id', capacity, moment, 0, 0, 0, coalesce(bucket.keep_until, 0));
  else
    bucket := infergate.filled_bucket(bucket, moment);
    bucket.level := least(bucket.level, capacity);
  end if;
  bucket.per_minute := rate->>'limit';
  bucket.burst := rate->>'burst';
  return bucket;
end
$$;

create function infergate.bucket_lacks(bucket infergate.bucket, rate jsonb) returns boolean
language sql immutable as $$
  select case rate->>'kind'
    when 'concurrent' then bucket.held + (rate->>'take')::bigint > bucket.per_minute
    when 'requests' then bucket.level < (rate->>'take')::bigint * 60000
    else bucket.level < 1
  end
$$;

-- Takes what a call may need.
create function infergate.take_from(bucket infergate.bucket, rate jsonb) returns infergate.bucket
language plpgsql immutable as $$
declare
  taken constant bigint := rate->>'take';
begin
  if rate->>'kind' <> 'concurrent' then
    bucket.level := greatest(bucket.level - taken * 60000, -9007199254740991);
  end if;
  if rate->>'kind' <> 'requests' then bucket.held := bucket.held + taken; end if;
  return bucket;
end
$$;

-- Gives back what was taken and not used, or takes the rest. What is idle or unknown stays so.
create function infergate.after_take(bucket infergate.bucket, take jsonb, actual bigint, moment bigint)
returns infergate.bucket
language plpgsql immutable as $$
declare
  taken constant bigint := take->>'taken';
begin
  if bucket is null or infergate.is_idle(bucket, moment) then return bucket; end if;
  if take->>'kind' <> 'requests' then bucket.held := bucket.held - taken; end if;
  if take->>'kind' = 'concurrent' then return bucket; end if;
  bucket := infergate.filled_bucket(bucket, moment);
  -- What exceeds the burst is cut wherever the level is read.
  bucket.level := greatest(bucket.level + (taken - actual) * 60000, -9007199254740991);
  return bucket;
end
$$;

-- What a call has used, by the end that it came to. What is not reported stays taken by a charge and goes back by a
-- release. By an expiry tokens go back: whether the request has reached an upstream is not known, so it counts.
create function infergate.used_of(take jsonb, uses jsonb, ending text) returns bigint
language sql immutable as $$
  select coalesce(
    (uses->>(take->>'id'))::bigint,
    case
      when ending = 'release' or (ending = 'expiry' and take->>'kind' = 'tokens') then 0
      else (take->>'taken')::bigint
    end
  )
$$;

create function infergate.save_bucket(bucket infergate.bucket) returns void
language plpgsql as $$
declare
  lacking constant bigint := bucket.burst * 60000 - bucket.level;
  full_at bigint := bucket.at;
begin
  if lacking > 0 then
    full_at := least(
      case when bucket.per_minute > 0 then bucket.at + lacking / bucket.per_minute + 1 end, 9007199254740991 - 259200000
    );
  end if;
  if bucket.keep_until not between full_at + 86400000 and full_at + 259200000 then
    bucket.keep_until := full_at + 172800000;
  end if;
  insert into infergate.bucket select bucket.* on conflict (account, id) do update set
    level = excluded.level, at = excluded.at, held = excluded.held, per_minute = excluded.per_minute,
    burst = excluded.burst, keep_until = excluded.keep_until;
end
$$;

create function infergate.end_takes(owner text, part jsonb, uses jsonb, ending text, moment bigint) returns void
language plpgsql as $$
declare
  take jsonb;
  stored infergate.bucket;
  ended infergate.bucket;
begin
  for take in select value from jsonb_array_elements(part->'takes') loop
    select * into stored from infergate.bucket where bucket.account = owner and bucket.id = take->>'id';
    ended := infergate.after_take(stored, take, infergate.used_of(take, uses, ending), moment);
    if ended is distinct from stored then perform infergate.save_bucket(ended); end if;
  end loop;
end
$$;
`;
