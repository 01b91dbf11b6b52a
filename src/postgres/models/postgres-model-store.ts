import { requireKnownOptions } from "../../check/known-options.js";
import { checkedModelStore, type ModelText } from "../../models/checked-model-store.js";
import type { ModelStore } from "../../models/model-store.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "../database.js";
import { Notifications } from "../listen/notifications.js";

/** By what must be there: whatever is, nothing, or this text. Each gives what has come of it. */
const putSql = {
  any: /* sql */ `
with room as (
  select exists (select from infergate.model where id = $1) or (select count(*) from infergate.model) < $3 as is_left
), done as (
  insert into infergate.model (id, model) select $1, $2 from room where is_left
  on conflict (id) do update set model = excluded.model
)
select to_json(case when is_left then 'put' else 'full' end)::text as json from room`,
  // What has come meanwhile is in the way of the insert, and is not seen by the rest of the statement.
  none: /* sql */ `
with room as (
  select (select count(*) from infergate.model) < $3 as is_left
), made as (
  insert into infergate.model (id, model) select $1, $2 from room where is_left on conflict do nothing returning id
)
select to_json(case
  when exists (select from made) then 'put'
  when is_left or exists (select from infergate.model where id = $1) then 'unexpected'
  else 'full'
end)::text as json from room`,
  known: /* sql */ `
with done as (update infergate.model set model = $2 where id = $1 and model = $3 returning id)
select to_json(case when exists (select from done) then 'put' else 'unexpected' end)::text as json`,
};

const removeSql = /* sql */ `
delete from infergate.model where id = $1 and model = coalesce($2, model) returning to_json(true)::text as json`;

type Outcome = "put" | "full" | "unexpected";

/**
 * Models in PostgreSQL. `subscribe` needs `pool.connect` or `pool.listen`: it listens on one connection of its own,
 * which is opened again when it breaks; what changes meanwhile goes unheard.
 *
 * @throws TypeError when an option is not valid.
 */
export function postgresModelStore(options: PostgresOptions): ModelStore {
  requireKnownOptions("postgresModelStore", options, knownPostgresOptions);
  const database = new Database(options);
  return modelStore(database, new Notifications(database));
}

export function modelStore(database: Database, notifications: Notifications): ModelStore {
  return checkedModelStore("postgresModelStore", {
    list: () =>
      database.query<ModelText>(
        "select json_build_object('id', id, 'text', model)::text as json from infergate.model",
        [],
      ),
    async find(id) {
      const sql = "select to_json(model)::text as json from infergate.model where id = $1";
      return (await database.query<string>(sql, [id]))[0];
    },
    async put({ id, text, expected, most }) {
      const [outcome] =
        typeof expected === "string"
          ? await database.query<Outcome>(putSql.known, [id, text, expected])
          : await database.query<Outcome>(expected === null ? putSql.none : putSql.any, [id, text, most]);
      return outcome ?? "unexpected";
    },
    remove: async (id, expected) => (await database.query(removeSql, [id, expected ?? null])).length > 0,
    ...(notifications.isEnabled && {
      subscribe: (onChange) => notifications.subscribe(`${database.schema}_model`, onChange),
    }),
  });
}
