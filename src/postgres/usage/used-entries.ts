/**
 * Entries of the journal, as they are summed up: what a FROM clause names `entry`.
 *
 * @param owner - the account.
 * @param spans - where they are, in rows of `sign, since, until`; the sign says whether they are added or taken away.
 */
export function usedEntries(owner: string, spans: string): string {
  return /* sql */ `(
          select sign, (at / 86400000)::int as day, starts[1] is null and starts[2] is null and starts[3] is null as prepaid,
            case when kind = 'charge' then sign else 0 end as requests, sign * amount as micro,
            infergate.text_of(tags, 'model') as model, infergate.text_of(tags, 'keyId') as key_id, tags,
            tags->'input' as input, tags->'cachedInput' as cached_input, tags->'cacheWrite' as cache_write,
            tags->'output' as output, tags->'reasoning' as reasoning
          from ${spans} as span (sign, since, until), lateral (
            -- Behind this fence each span is read by the index, whatever the statistics say.
            select at, kind, amount, starts, tags || '{}' as tags from infergate.entry
            where account = ${owner} and at >= since and at < until and kind in ('charge', 'checkpoint', 'release')
            offset 0
          ) as entered
          -- And behind this one, each number is looked for once.
          offset 0
        ) as entry`;
}
