/** How many sets of tags an account has in a day. What comes beyond goes into sums without tags. */
export const mostTagSets = 200;

/** What an entry of the journal adds to the sums: the same as src/ledger/usage-sums.ts. */
export const usageFunctions = /* sql */ `
-- A tag that is a text, or null.
create function infergate.text_of(tags jsonb, name text) returns text
language sql immutable as $$
  select case when jsonb_typeof(tags->name) = 'string' then tags->>name end
$$;

-- A tag that is a number, or 0. No charge is lost because an upstream reports more than can be counted.
create function infergate.count_of(tags jsonb, name text) returns bigint
language sql immutable as $$
  select case
    when jsonb_typeof(tags->name) = 'number'
      then least(greatest((tags->name)::numeric, -9007199254740991), 9007199254740991)::bigint
    else 0
  end
$$;

create function infergate.countable(total bigint) returns bigint
language sql immutable as $$
  select least(greatest(total, -9007199254740991), 9007199254740991)
$$;

-- The tags that are the host's own.
create function infergate.host_tags(tags jsonb) returns jsonb
language plpgsql immutable as $$
begin
  -- Most calls have none, and to find that out in a text is quicker.
  if tags is null or tags::text not like '%"tag.%' then return '{}'; end if;
  return coalesce(
    (
      select jsonb_object_agg(key, value) from jsonb_each(tags)
      where starts_with(key, 'tag.') and jsonb_typeof(value) = 'string'
    ),
    '{}'
  );
end
$$;

-- Null: the tags are unknown.
create function infergate.tag_set_of(host_tags jsonb) returns bytea
language sql stable as $$
  select case
    when host_tags is null then '\\x00'
    when host_tags = '{}' then ''
    else substr(infergate.digest(host_tags::text), 1, 16)
  end
$$;

create function infergate.sum_digest(model text, key_id text, prepaid boolean) returns bytea
language sql stable as $$
  select substr(infergate.digest(jsonb_build_array(model, key_id, prepaid)::text), 1, 16)
$$;

-- Whether an account has so many sets of tags already in this day, and not this one.
create function infergate.is_beyond_tag_sets(owner text, today int, host_tags jsonb, wanted bytea) returns boolean
language plpgsql stable as $$
begin
  if host_tags is null or host_tags = '{}' then return false; end if;
  if exists (select from infergate.usage_sum where account = owner and day = today and tag_set = wanted) then
    return false;
  end if;
  return exists (select from infergate.usage_sum where account = owner and day = today and tags is null)
    or (
      select count(distinct tag_set) from infergate.usage_sum
      where account = owner and day = today and tags <> '{}'
    ) >= ${mostTagSets};
end
$$;

-- Adds an entry to its sum. calls: 1 for a charge, else 0.
create function infergate.add_usage(
  owner text, moment bigint, calls int, amount bigint, is_prepaid boolean, entry_tags jsonb
) returns void
language plpgsql as $$
declare
  today constant int := moment / 86400000;
  added infergate.usage_sum;
begin
  if calls = 0 and amount = 0 and entry_tags is null then return; end if;
  added.tags := infergate.host_tags(entry_tags);
  added.tag_set := infergate.tag_set_of(added.tags);
  added.digest := infergate.sum_digest(
    infergate.text_of(entry_tags, 'model'), infergate.text_of(entry_tags, 'keyId'), is_prepaid
  );
  loop
    update infergate.usage_sum as stored set
      requests = stored.requests + calls,
      micro = infergate.countable(stored.micro + amount),
      input = infergate.countable(stored.input + infergate.count_of(entry_tags, 'input')),
      cached_input = infergate.countable(stored.cached_input + infergate.count_of(entry_tags, 'cachedInput')),
      cache_write = infergate.countable(stored.cache_write + infergate.count_of(entry_tags, 'cacheWrite')),
      output = infergate.countable(stored.output + infergate.count_of(entry_tags, 'output')),
      reasoning = infergate.countable(stored.reasoning + infergate.count_of(entry_tags, 'reasoning'))
      where account = owner and day = today and tag_set = added.tag_set and digest = added.digest;
    if found then return; end if;
    if infergate.is_beyond_tag_sets(owner, today, added.tags, added.tag_set) then
      added.tags := null;
      added.tag_set := infergate.tag_set_of(null);
    end if;
    insert into infergate.usage_sum values (
      owner, today, added.tag_set, added.digest,
      infergate.text_of(entry_tags, 'model'), infergate.text_of(entry_tags, 'keyId'), is_prepaid, added.tags,
      0, 0, 0, 0, 0, 0, 0
    ) on conflict do nothing;
  end loop;
end
$$;
`;
