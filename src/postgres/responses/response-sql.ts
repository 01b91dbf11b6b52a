/** A response as JSON, of its row and its items. `$ttl` in conditions stands for how long responses are kept. */
const keptJson = /* sql */ `json_build_object(
  'id', kept.id, 'account', kept.account, 'createdAt', kept.created_at, 'previousResponseId', kept.previous_id,
  'response', kept.response, 'items', (
    select coalesce(json_agg(json_build_array(is_output, id, item) order by position), '[]')
    from infergate.response_item where response = kept.sequence
  )
)::text as json`;

const isAlive = (ttl: string) => `put_at > (select infergate.clock_ms()) - ${ttl}::bigint`;

export const putSql = /* sql */ `
select to_json(infergate.put_response($1, $2, $3, $4, $5, $6, $7::text::json, $8)::text)::text as json`;

export const putProcedure =
  "call infergate.put_response_read_committed($1, $2, $3, $4, $5, $6, $7::text::json, $8, null)";

export const findSql = /* sql */ `
select ${keptJson} from infergate.response as kept where account = $1 and id = $2 and ${isAlive("$3")}`;

/** From the newest back, as far as they are there. */
export const findChainSql = /* sql */ `
with recursive chain as (
  select sequence, previous_id, 1 as depth
  from infergate.response where account = $1 and id = $2 and ${isAlive("$3")}
  union all
  select earlier.sequence, earlier.previous_id, chain.depth + 1
  from chain join infergate.response as earlier on earlier.account = $1 and earlier.id = chain.previous_id
  where chain.depth < $4 and earlier.${isAlive("$3")}
)
select ${keptJson} from chain join infergate.response as kept using (sequence) order by chain.depth`;

/** How many bytes those take that {@link findChainSql} gives; no row where there are none. */
export const measureChainSql = /* sql */ `
with recursive chain as (
  select previous_id, bytes, 1 as depth
  from infergate.response where account = $1 and id = $2 and ${isAlive("$3")}
  union all
  select earlier.previous_id, earlier.bytes, chain.depth + 1
  from chain join infergate.response as earlier on earlier.account = $1 and earlier.id = chain.previous_id
  where chain.depth < $4 and earlier.${isAlive("$3")}
)
select to_json(sum(bytes)::bigint)::text as json from chain having count(*) > 0`;

const newestItem = /* sql */ `
  infergate.response_item as item join infergate.response as kept on kept.sequence = item.response
  where item.account = $1 and item.id = wanted.id and kept.${isAlive("$3")}
  order by item.response desc, item.position desc limit 1`;

export const measureItemsSql = /* sql */ `
select json_build_array(wanted.id, found.bytes)::text as json
from json_array_elements_text($2::text::json) as wanted (id), lateral (
  select octet_length(item.item) as bytes from ${newestItem}
) as found`;

/** The ids of a response's input items, in their order; no row where there is no response. */
export const inputIdsSql = /* sql */ `
select json_build_object('sequence', kept.sequence, 'ids', (
  select coalesce(json_agg(id order by position), '[]')
  from infergate.response_item where response = kept.sequence and not is_output
))::text as json
from infergate.response as kept where account = $1 and id = $2 and ${isAlive("$3")}`;

/** Items by their places among those. */
export const inputItemsSql = /* sql */ `
select json_build_object('id', item.id, 'json', item.item)::text as json
from json_array_elements_text($2::text::json) with ordinality as wanted (place, turn) join (
  select id, item, row_number() over (order by position) - 1 as place
  from infergate.response_item where response = $1 and not is_output
) as item on item.place = wanted.place::integer
order by wanted.turn`;

export const findItemsSql = /* sql */ `
select json_build_array(wanted.id, found.item)::text as json
from json_array_elements_text($2::text::json) as wanted (id), lateral (
  select item.item from ${newestItem}
) as found`;

export const deleteSql = "select to_json(infergate.delete_response($1, $2, $3))::text as json";

export const deleteProcedure = "call infergate.delete_response_read_committed($1, $2, $3, null)";

export const forgetSql = "select to_json(infergate.delete_responses($1, $2, $3))::text as json";

export const forgetProcedure = "call infergate.delete_responses_read_committed($1, $2, $3, null)";

export const purgeSql = "select to_json(infergate.purge_responses($1, $2))::text as json";
