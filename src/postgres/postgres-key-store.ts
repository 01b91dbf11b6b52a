import { requireKnownOptions } from "../check/known-options.js";
import { checkedKeyStore } from "../keys/checked-key-store.js";
import type { KeptKey, KeyChange, WritableKeyStore } from "../keys/key-store.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "./database.js";
import { Notifications } from "./listen/notifications.js";

/** A key as the contract has it, without the members that it does not have. */
const keyJson = /* sql */ `jsonb_strip_nulls(jsonb_build_object(
  'id', id, 'hash', hash, 'account', account, 'plan', plan, 'hint', hint, 'name', name, 'createdAt', created_at,
  'expiresAt', expires_at, 'revokedAt', revoked_at, 'models', models, 'anchor', anchor,
  'enabled', enabled, 'metadata', metadata, 'lastUsedAt', last_used_at,
  'credits', credits, 'rates', rates, 'tags', tags, 'lineage', lineage
))::text as json`;

const insertSql = /* sql */ `
insert into infergate.api_key
  (id, hash, account, plan, hint, name, created_at, expires_at, revoked_at, models, anchor, enabled, metadata, last_used_at,
    credits, rates, tags, lineage)
select id, hash, account, plan, hint, name, "createdAt", "expiresAt", "revokedAt", nullif(models, 'null'), anchor, enabled,
  nullif(metadata, 'null'), "lastUsedAt", nullif(credits, 'null'), nullif(rates, 'null'), nullif(tags, 'null'), lineage
from jsonb_to_record($1::text::jsonb) as given (
  id text, hash text, account text, plan text, hint text, name text, "createdAt" bigint, "expiresAt" bigint,
  "revokedAt" bigint, models jsonb, anchor bigint, enabled boolean, metadata jsonb, "lastUsedAt" bigint,
  credits jsonb, rates jsonb, tags jsonb, lineage text
)
on conflict do nothing
returning to_json(true)::text as json`;

const updateSql = /* sql */ `
update infergate.api_key set
  account = coalesce(change->>'account', account),
  plan = case when change ? 'plan' then change->>'plan' else plan end,
  name = case when change ? 'name' then change->>'name' else name end,
  expires_at = case when change ? 'expiresAt' then (change->>'expiresAt')::bigint else expires_at end,
  revoked_at = case
    when change->'revokedAt' = 'null' then null
    when change ? 'revokedAt' then least(revoked_at, (change->>'revokedAt')::bigint)
    else revoked_at
  end,
  models = case when change ? 'models' then nullif(change->'models', 'null') else models end,
  anchor = case when change ? 'anchor' then (change->>'anchor')::bigint else anchor end,
  enabled = case when change ? 'enabled' then (change->>'enabled')::boolean else enabled end,
  metadata = case when change ? 'metadata' then nullif(change->'metadata', 'null') else metadata end,
  credits = case when change ? 'credits' then nullif(change->'credits', 'null') else credits end,
  rates = case when change ? 'rates' then nullif(change->'rates', 'null') else rates end,
  tags = case when change ? 'tags' then nullif(change->'tags', 'null') else tags end
from (select $2::text::jsonb as change) as given
where id = $1
returning ${keyJson}`;

/** Locks the keys in the order of their ids, so that no two processes wait for each other. */
const touchSql = /* sql */ `
with given as (
  select id, max(at) as at from jsonb_to_recordset($1::text::jsonb) as used (id text, at bigint) group by id
), locked as (
  select stored.id, given.at from infergate.api_key as stored join given using (id)
  where stored.last_used_at is null or stored.last_used_at < given.at
  order by stored.id
  for no key update of stored
)
update infergate.api_key as stored set last_used_at = greatest(stored.last_used_at, locked.at)
from locked where stored.id = locked.id`;

/**
 * API keys in PostgreSQL, by their hashes. `subscribe` needs `pool.connect` or `pool.listen`: it listens on one connection of its
 * own, which is opened again when it breaks; what changes meanwhile goes unheard.
 *
 * @throws TypeError when an option is not valid.
 */
export function postgresKeyStore(options: PostgresOptions): WritableKeyStore {
  requireKnownOptions("postgresKeyStore", options, knownPostgresOptions);
  const database = new Database(options);
  return keyStore(database, new Notifications(database));
}

export function keyStore(database: Database, notifications: Notifications): WritableKeyStore {
  const select = (where: string, value: string): Promise<KeptKey[]> =>
    database.query(`select ${keyJson} from infergate.api_key where ${where}`, [value]);
  const store = checkedKeyStore("postgresKeyStore", {
    find: async (hash) => (await select("hash = $1", hash))[0],
    get: async (id) => (await select("id = $1", id))[0],
    list: (account) => select("account = $1", account),
    async insert(key) {
      const inserted = await database.query(insertSql, [JSON.stringify(key)]);
      if (inserted.length === 0) throw new Error(`The id ${key.id}, or the hash with it, is taken.`);
    },
    async update(id: string, change: KeyChange) {
      const [key] = await database.query<KeptKey>(updateSql, [id, JSON.stringify(change)]);
      return key;
    },
    async touch(uses) {
      await database.query(touchSql, [JSON.stringify(uses)]);
    },
    async forget(account) {
      const sql = "delete from infergate.api_key where account = $1 returning to_json(hash)::text as json";
      return database.query<string>(sql, [account]);
    },
  });
  if (!notifications.isEnabled) return store;
  return {
    ...store,
    subscribe: (onChange) => notifications.subscribe(`${database.schema}_key`, onChange),
  };
}
