import { requireKnownOptions } from "../../check/known-options.js";
import { checkedResponseStore, pagePlaces, responseBytes, wholeChain } from "../../responses/checked-response-store.js";
import {
  checkResponseLimits,
  type KeptItem,
  type KeptResponse,
  knownResponseLimits,
  type ResponseLimits,
  type ResponseStore,
} from "../../responses/response-store.js";
import { Database, knownPostgresOptions, type PostgresOptions, ReadCommitted } from "./database.js";
import { Purger } from "./purger.js";

/** Options of {@link postgresResponseStore}. */
export interface PostgresResponseStoreOptions extends PostgresOptions, ResponseLimits {}

const forgottenAtOnce = 100;

type StoredItem = readonly [isOutput: boolean, id: string, json: string];

interface StoredInput {
  readonly sequence: number;
  readonly ids: readonly string[];
}

interface StoredResponse extends Omit<KeptResponse, "previousResponseId" | "input" | "output"> {
  readonly previousResponseId: string | null;
  readonly items: readonly StoredItem[];
}

/**
 * Keeps responses in PostgreSQL. What has expired is deleted now and then, some with a response that is put. The database's
 * clock is the only one.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresResponseStore(options: PostgresResponseStoreOptions): ResponseStore {
  requireKnownOptions("postgresResponseStore", options, { ...knownPostgresOptions, ...knownResponseLimits });
  return responseStore(new Database(options), options);
}

/** @throws RangeError when a limit is out of range. */
export function responseStore(database: Database, limits: ResponseLimits | undefined): ResponseStore {
  const { ttlMs, maxAccountBytes } = checkResponseLimits(limits);
  const readCommitted = new ReadCommitted(database);
  const purger = new Purger(async (stepSize) => {
    const [more] = await database.query(purgeSql, [ttlMs, stepSize]);
    return more === true;
  });

  return checkedResponseStore("postgresResponseStore", {
    async put(response) {
      await readCommitted.query(putSql, putProcedure, [...valuesOf(response), maxAccountBytes]);
      if (database.isolate) await purger.runDue();
      else purger.touch();
    },
    async find(account, id) {
      const [found] = await database.query<StoredResponse>(findSql, [account, id, ttlMs]);
      return found && toKeptResponse(found);
    },
    async findChain(account, id, most) {
      const found = await database.query<StoredResponse>(findChainSql, [account, id, ttlMs, most]);
      return wholeChain(found.map(toKeptResponse));
    },
    async findItems(account, ids) {
      return new Map(await database.query<[string, string]>(findItemsSql, [account, JSON.stringify(ids), ttlMs]));
    },
    async measureChain(account, id, most) {
      const [bytes] = await database.query<number>(measureChainSql, [account, id, ttlMs, most]);
      return bytes;
    },
    async measureItems(account, ids) {
      return new Map(await database.query<[string, number]>(measureItemsSql, [account, JSON.stringify(ids), ttlMs]));
    },
    async findInput(account, id, page) {
      const [found] = await database.query<StoredInput>(inputIdsSql, [account, id, ttlMs]);
      const wanted = found && pagePlaces(found.ids, page);
      if (wanted === undefined) return undefined;
      const places = JSON.stringify(wanted.places);
      const items = await database.query<KeptItem>(inputItemsSql, [found?.sequence ?? 0, places]);
      return { items, hasMore: wanted.hasMore };
    },
    async delete(account, id) {
      const [deleted] = await readCommitted.query(deleteSql, deleteProcedure, [account, id, ttlMs]);
      return deleted === true;
    },
    async forget(account) {
      let deleted: number | undefined;
      do {
        [deleted] = await readCommitted.query<number>(forgetSql, forgetProcedure, [
          account,
          Number.MAX_SAFE_INTEGER,
          forgottenAtOnce,
        ]);
      } while (deleted === forgottenAtOnce);
    },
    close: () => purger.idle(),
  });
}

function valuesOf(kept: KeptResponse): (string | number | null)[] {
  const { account, id, createdAt, previousResponseId, response, input, output } = kept;
  const toStored = (isOutput: boolean) => (item: KeptItem) => [isOutput, item.id, item.json] satisfies StoredItem;
  const items = [...input.map(toStored(false)), ...output.map(toStored(true))];
  const bytes = responseBytes(kept);
  return [account, id, createdAt, previousResponseId ?? null, bytes, response, JSON.stringify(items)];
}

function toKeptResponse({ items, previousResponseId, ...rest }: StoredResponse): KeptResponse {
  const itemsOf = (wanted: boolean): KeptItem[] =>
    items.flatMap(([isOutput, id, json]) => (isOutput === wanted ? [{ id, json }] : []));
  return {
    ...rest,
    previousResponseId: previousResponseId ?? undefined,
    input: itemsOf(false),
    output: itemsOf(true),
  };
}

/** A response as JSON, of its row and its items. `$ttl` in conditions stands for how long responses are kept. */
const keptJson = /* sql */ `json_build_object(
  'id', kept.id, 'account', kept.account, 'createdAt', kept.created_at, 'previousResponseId', kept.previous_id,
  'response', kept.response, 'items', (
    select coalesce(json_agg(json_build_array(is_output, id, item) order by position), '[]')
    from infergate.response_item where response = kept.sequence
  )
)::text as json`;

const isAlive = (ttl: string) => `put_at > (select infergate.clock_ms()) - ${ttl}::bigint`;

const putSql = /* sql */ `
select to_json(infergate.put_response($1, $2, $3, $4, $5, $6, $7::text::json, $8)::text)::text as json`;

const putProcedure = "call infergate.put_response_read_committed($1, $2, $3, $4, $5, $6, $7::text::json, $8, null)";

const findSql = /* sql */ `
select ${keptJson} from infergate.response as kept where account = $1 and id = $2 and ${isAlive("$3")}`;

/** From the newest back, as far as they are there. */
const findChainSql = /* sql */ `
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
const measureChainSql = /* sql */ `
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

const measureItemsSql = /* sql */ `
select json_build_array(wanted.id, found.bytes)::text as json
from json_array_elements_text($2::text::json) as wanted (id), lateral (
  select octet_length(item.item) as bytes from ${newestItem}
) as found`;

/** The ids of a response's input items, in their order; no row where there is no response. */
const inputIdsSql = /* sql */ `
select json_build_object('sequence', kept.sequence, 'ids', (
  select coalesce(json_agg(id order by position), '[]')
  from infergate.response_item where response = kept.sequence and not is_output
))::text as json
from infergate.response as kept where account = $1 and id = $2 and ${isAlive("$3")}`;

/** Items by their places among those. */
const inputItemsSql = /* sql */ `
select json_build_object('id', item.id, 'json', item.item)::text as json
from json_array_elements_text($2::text::json) with ordinality as wanted (place, turn) join (
  select id, item, row_number() over (order by position) - 1 as place
  from infergate.response_item where response = $1 and not is_output
) as item on item.place = wanted.place::integer
order by wanted.turn`;

const findItemsSql = /* sql */ `
select json_build_array(wanted.id, found.item)::text as json
from json_array_elements_text($2::text::json) as wanted (id), lateral (
  select item.item from ${newestItem}
) as found`;

const deleteSql = "select to_json(infergate.delete_response($1, $2, $3))::text as json";

const deleteProcedure = "call infergate.delete_response_read_committed($1, $2, $3, null)";

const forgetSql = "select to_json(infergate.delete_responses($1, $2, $3))::text as json";

const forgetProcedure = "call infergate.delete_responses_read_committed($1, $2, $3, null)";

const purgeSql = "select to_json(infergate.purge_responses($1, $2))::text as json";
