/**
 * Sums up the journal that is there already. Operations go on meanwhile: only the last minutes are summed up while all of
 * them wait. After that they call functions that keep the sums.
 */
export const postgresVersion8Fill = /* sql */ `
do $fill$
declare
  began constant bigint := infergate.clock_ms();
  -- Earlier entries are committed: no operation takes this long.
  recent constant bigint := began - 600000;
begin
  insert into infergate.usage_sum
  with used as (
    select account, (at / 86400000)::int as day, infergate.text_of(tags, 'model') as model,
      infergate.text_of(tags, 'keyId') as key_id,
      starts[1] is null and starts[2] is null and starts[3] is null as prepaid, infergate.host_tags(tags) as tags,
      count(*) filter (where kind = 'charge') as requests, sum(amount) as micro,
      sum(infergate.count_of(tags, 'input')) as input, sum(infergate.count_of(tags, 'cachedInput')) as cached_input,
      sum(infergate.count_of(tags, 'cacheWrite')) as cache_write, sum(infergate.count_of(tags, 'output')) as output,
      sum(infergate.count_of(tags, 'reasoning')) as reasoning
    from infergate.entry where kind in ('charge', 'checkpoint', 'release') and at < recent
    group by 1, 2, 3, 4, 5, 6
  ), placed as (
    select *, dense_rank() over (partition by account, day, tags = '{}' order by tags) as place from used
  ), known as (
    select account, day, model, key_id, prepaid, case when place <= 200 then tags end as tags,
      sum(requests) as requests, sum(micro) as micro, sum(input) as input, sum(cached_input) as cached_input,
      sum(cache_write) as cache_write, sum(output) as output, sum(reasoning) as reasoning
    from placed group by 1, 2, 3, 4, 5, 6
  )
  select account, day, infergate.tag_set_of(tags), infergate.sum_digest(model, key_id, prepaid),
    model, key_id, prepaid, tags, requests,
    least(greatest(micro, -9007199254740991), 9007199254740991),
    least(greatest(input, -9007199254740991), 9007199254740991),
    least(greatest(cached_input, -9007199254740991), 9007199254740991),
    least(greatest(cache_write, -9007199254740991), 9007199254740991),
    least(greatest(output, -9007199254740991), 9007199254740991),
    least(greatest(reasoning, -9007199254740991), 9007199254740991)
  from known
  where (requests, micro, input, cached_input, cache_write, output, reasoning) <> (0, 0, 0, 0, 0, 0, 0);

  -- Every operation begins with this table.
  lock table infergate.account in exclusive mode;
  if exists (select from infergate.forgotten where at >= began) then
    delete from infergate.usage_sum
      where infergate.digest(account) in (select digest from infergate.forgotten where at >= began);
  end if;
  set local enable_seqscan = off;
  -- A sum at a time: a row that one transaction changes thousands of times takes longer with each time.
  perform infergate.add_usage(
    account, day * 86400000, requests, least(greatest(micro, -9007199254740991), 9007199254740991)::bigint, prepaid,
    own_tags || jsonb_build_object(
      'model', model, 'keyId', key_id, 'input', input, 'cachedInput', cached_input, 'cacheWrite', cache_write,
      'output', output, 'reasoning', reasoning
    )
  ) from (
    select account, at / 86400000 as day, infergate.text_of(tags, 'model') as model,
      infergate.text_of(tags, 'keyId') as key_id,
      starts[1] is null and starts[2] is null and starts[3] is null as prepaid, infergate.host_tags(tags) as own_tags,
      (count(*) filter (where kind = 'charge'))::int as requests, sum(amount) as micro,
      sum(infergate.count_of(tags, 'input')) as input, sum(infergate.count_of(tags, 'cachedInput')) as cached_input,
      sum(infergate.count_of(tags, 'cacheWrite')) as cache_write, sum(infergate.count_of(tags, 'output')) as output,
      sum(infergate.count_of(tags, 'reasoning')) as reasoning
    from infergate.entry where kind in ('charge', 'checkpoint', 'release') and at >= recent
    group by 1, 2, 3, 4, 5, 6
  ) as used
  where (requests, micro, input, cached_input, cache_write, output, reasoning) <> (0, 0, 0, 0, 0, 0, 0);
end
$fill$;
`;
