import { unitColumns, usedEntries } from "./unit-columns.js";

const units = (write: (column: string) => string): string => unitColumns.map(write).join(", ");

/** How usage is summed up, by whatever names. */
export const sumUsageFunction = /* sql */ `
-- The sequence of an account's first entry from a moment on. It grows with all accounts' entries, so it only estimates.
create function infergate.next_sequence(owner text, moment bigint) returns bigint
language plpgsql stable set enable_seqscan = off as $$
begin
  return coalesce(
    (select sequence from infergate.entry where account = owner and at >= moment order by at, sequence limit 1),
    (select sequence + 1 from infergate.entry where account = owner order by at desc, sequence desc limit 1),
    0
  );
end
$$;

-- first, last: the whole days, last exclusive. parts: [[day, since, until], ...] of the days beside them. names: day, model,
-- key, funding and tags as the journal names them. Answers what is alike, in their order, and then what it adds up to.
create function infergate.sum_usage(owner text, first int, last int, parts jsonb, names jsonb) returns setof jsonb
-- All of it is read by indexes, too little to compile anything for it.
language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
  day_ms constant bigint := 86400000;
  dropped constant bigint := (select dropped_until from infergate.retention);
  is_by_tag constant boolean := exists (select from jsonb_array_elements_text(names) as name where starts_with(name, 'tag.'));
  -- The spans of the journal to read, and whether they are added or taken away.
  signs int[] := '{}';
  begins bigint[] := '{}';
  ends bigint[] := '{}';
  untagged int[] := '{}';
  -- The spans of which there are slices.
  sliced_days int[] := '{}';
  sliced_signs int[] := '{}';
  sliced_begins bigint[] := '{}';
  sliced_ends bigint[] := '{}';
  part record;
  span record;
  is_rest boolean;
  first_slice bigint;
  last_slice bigint;
  listed constant text[] := array(select jsonb_array_elements_text(names));
  by_sum text;
  by_entry text;
  dimensions text;
begin
  for part in
    select (value->>0)::int as day, (value->>1)::bigint as since, (value->>2)::bigint as until,
      (value->>0)::int * day_ms as midnight, ((value->>0)::int + 1) * day_ms as next_midnight
    from jsonb_array_elements(parts)
  loop
    -- What is quicker to read: the part, or the day's sum and the rest. Sequences tell how many entries there are in each.
    is_rest := part.midnight > dropped
      and infergate.next_sequence(owner, part.until) - infergate.next_sequence(owner, part.since)
        > infergate.next_sequence(owner, part.since) - infergate.next_sequence(owner, part.midnight)
          + infergate.next_sequence(owner, part.next_midnight) - infergate.next_sequence(owner, part.until);
    if is_rest then
      if first >= last then first := part.day; last := part.day; end if;
      first := least(first, part.day);
      last := greatest(last, part.day + 1);
    end if;
    for span in
      select sign, since, until, part.midnight > dropped and coalesce((
        select bool_and(sliced and not (is_by_tag and tags is null)) from infergate.usage_sum
        where account = owner and day = part.day
      ), false) as is_sliced
      from (
        values (1, part.since, part.until, false), (-1, part.midnight, part.since, true),
          (-1, part.until, part.next_midnight, true)
      ) as asked (sign, since, until, of_rest)
      where of_rest = is_rest
    loop
      -- What the slices do not have of it is in the journal.
      select coalesce(min(since), span.until), coalesce(max(until), span.until) into first_slice, last_slice
        from infergate.usage_slice
        where span.is_sliced and account = owner and day = part.day and since >= span.since and until <= span.until;
      signs := signs || array[span.sign, span.sign];
      begins := begins || array[span.since, last_slice];
      ends := ends || array[first_slice, span.until];
      if first_slice < last_slice then
        sliced_days := sliced_days || part.day;
        sliced_signs := sliced_signs || span.sign;
        sliced_begins := sliced_begins || first_slice;
        sliced_ends := sliced_ends || last_slice;
      end if;
    end loop;
  end loop;

  if is_by_tag then
    -- Days of which the journal alone knows all tags.
    select coalesce(array_agg(distinct day), '{}') into untagged from infergate.usage_sum
      where account = owner and day >= first and day < last and tags is null and day * day_ms > dropped;
    select signs || array_agg(1), begins || array_agg(day * day_ms), ends || array_agg((day + 1) * day_ms)
      into signs, begins, ends from unnest(untagged) as day;
  end if;

  -- The text has the places of names, never names: users choose these. A sum's tags are texts, an entry's need not be.
  select string_agg(coalesce(expression, format('tags->>$7[%s]', place)) || format(' as by_%s', place), ', ' order by place),
    string_agg(
      coalesce(expression, format('infergate.text_of(tags, $7[%s])', place)) || format(' as by_%s', place),
      ', ' order by place
    ),
    string_agg(format('by_%s', place), ', ' order by place)
  into by_sum, by_entry, dimensions
  from (
    select place, case name
      when 'day' then 'day'
      when 'model' then 'model'
      when 'key' then 'key_id'
      when 'funding' then 'case when prepaid then ''prepaid'' else ''plan'' end'
    end as expression
    from unnest(listed) with ordinality as listed (name, place)
  ) as named;
  return query execute format(
    $query$
      select jsonb_build_array(
        %1$s, sum(requests), sum(micro), sum(input), sum(cached_input), sum(cache_write), sum(output), sum(reasoning),
        ${units((column) => `sum(${column})`)}, sum(cost), sum(costed)
      )
      from (
        select %2$s, requests, micro, input, cached_input, cache_write, output, reasoning, ${units((column) => column)},
          cost, costed
        from infergate.usage_sum where account = $1 and day >= $2 and day < $3 and day <> all ($8)
        union all
        select %2$s, sign * requests, sign * micro, sign * input, sign * cached_input, sign * cache_write, sign * output,
          sign * reasoning, ${units((column) => `sign * ${column}`)}, sign * cost, sign * costed
        from unnest($9, $10, $11, $12) as cut (sliced_day, sign, begun, ended), lateral (
          select * from infergate.usage_slice
          where account = $1 and day = sliced_day and since >= begun and until <= ended
          offset 0
        ) as slice
        union all
        select %3$s, requests, micro,
          sign * infergate.count_in(input), sign * infergate.count_in(cached_input),
          sign * infergate.count_in(cache_write), sign * infergate.count_in(output), sign * infergate.count_in(reasoning),
          ${units((column) => `sign * infergate.count_in(${column})`)}, sign * infergate.count_in(cost), costed
        from ${usedEntries("$1", "unnest($4, $5, $6)")}
      ) as used
      group by %1$s
      having sum(requests) <> 0 or sum(micro) <> 0
    $query$,
    dimensions, by_sum, by_entry
  ) using owner, first, last, signs, begins, ends, listed, untagged, sliced_days, sliced_signs, sliced_begins,
    sliced_ends;
end
$$;
`;
