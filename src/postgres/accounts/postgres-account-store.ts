import type { StoredAccount, WritableAccountStore } from "../../accounts/account-store.js";
import { hasVersion } from "../../accounts/account-version.js";
import { checkedAccountStore } from "../../accounts/checked-account-store.js";
import { toAccountPage } from "../../accounts/to-account-page.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "../database.js";
import { Notifications } from "../listen/notifications.js";

/** An account as the contract has it, without the members that it does not have. */
const accountMembers = /* sql */ `jsonb_strip_nulls(jsonb_build_object(
  'id', id, 'plan', plan, 'anchor', anchor, 'status', status, 'message', message, 'metadata', metadata,
  'rates', rates, 'models', models, 'priceFactor', price_factor
))`;
const accountJson = /* sql */ `${accountMembers}::text as json`;

const findSql = /* sql */ `select ${accountJson} from infergate.account_record where id = $1`;

const putSql = /* sql */ `
insert into infergate.account_record as stored (id, plan, anchor, status, message, metadata, rates, models, price_factor)
values ($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8::text::jsonb, $9::numeric)
on conflict (id) do update set
  plan = excluded.plan,
  anchor = excluded.anchor,
  status = coalesce(excluded.status, stored.status),
  message = case when excluded.status is null then stored.message else excluded.message end,
  metadata = excluded.metadata,
  rates = excluded.rates,
  models = excluded.models,
  price_factor = excluded.price_factor`;

/** With the members of the account that must be there, or without, for where there must be none. */
const replaceSql = {
  known: /* sql */ `
update infergate.account_record set
  plan = $2, anchor = $3, status = $4, message = $5, metadata = $6::text::jsonb, rates = $7::text::jsonb,
  models = $8::text::jsonb, price_factor = $9::numeric
where id = $1 and ${accountMembers} = $10::text::jsonb
returning to_json(true)::text as json`,
  absent: /* sql */ `
insert into infergate.account_record (id, plan, anchor, status, message, metadata, rates, models, price_factor)
values ($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb, $8::text::jsonb, $9::numeric)
on conflict do nothing
returning to_json(true)::text as json`,
};

const updateSql = /* sql */ `
update infergate.account_record set
  plan = case when change ? 'plan' then change->>'plan' else plan end,
  anchor = case when change ? 'anchor' then (change->>'anchor')::bigint else anchor end,
  status = case when change ? 'status' then change->>'status' else status end,
  message = case when change ? 'message' then change->>'message' else message end,
  metadata = case when change ? 'metadata' then nullif(change->'metadata', 'null') else metadata end,
  rates = case when change ? 'rates' then nullif(change->'rates', 'null') else rates end,
  models = case when change ? 'models' then nullif(change->'models', 'null') else models end,
  price_factor = case when change ? 'priceFactor' then (change->>'priceFactor')::numeric else price_factor end
from (select $2::text::jsonb as change) as given
where id = $1
returning ${accountJson}`;

/**
 * Accounts in PostgreSQL. `subscribe` needs `pool.connect` or `pool.listen`: it listens on one connection of its own,
 * which is opened again when it breaks; what changes meanwhile goes unheard.
 *
 * @throws TypeError when an option is not valid.
 */
export function postgresAccountStore(options: PostgresOptions): WritableAccountStore {
  requireKnownOptions("postgresAccountStore", options, knownPostgresOptions);
  const database = new Database(options);
  return accountStore(database, new Notifications(database));
}

export function accountStore(database: Database, notifications: Notifications): WritableAccountStore {
  const find = async (id: string) => (await database.query<StoredAccount>(findSql, [id]))[0];
  const store = checkedAccountStore("postgresAccountStore", {
    find,
    async put(account) {
      await database.query(putSql, columnsOf(account));
    },
    async replace(account, expected) {
      const earlier = await find(account.id);
      if (!hasVersion(earlier, expected)) return false;
      const columns = columnsOf(account);
      const replaced =
        earlier === undefined
          ? await database.query(replaceSql.absent, columns)
          : await database.query(replaceSql.known, [...columns, JSON.stringify(earlier)]);
      return replaced.length > 0;
    },
    async list({ cursor = "", limit }) {
      const sql = `select ${accountJson} from infergate.account_record where id > $1 order by id limit $2`;
      return toAccountPage(await database.query<StoredAccount>(sql, [cursor, limit + 1]), limit);
    },
    async update(id, change) {
      const [account] = await database.query<StoredAccount>(updateSql, [id, JSON.stringify(change)]);
      return account;
    },
    async forget(id) {
      await database.query("delete from infergate.account_record where id = $1", [id]);
    },
  });
  if (!notifications.isEnabled) return store;
  return {
    ...store,
    subscribe: (onChange) => notifications.subscribe(`${database.schema}_account_record`, onChange),
  };
}

function columnsOf({ id, plan, anchor, status, message, metadata, rates, models, priceFactor }: StoredAccount) {
  const json = [metadata, rates, models].map((members) => (members ? JSON.stringify(members) : null));
  return [id, plan, anchor ?? null, status ?? null, message ?? null, ...json, priceFactor ?? null];
}
