import type {
  KeptRecord,
  RecordCondition,
  RecordData,
  RecordKind,
  RecordPut,
  RecordRange,
  RecordStore,
  RecordUse,
} from "../../records/record-store.js";
import { type Database, isDuplicateKey } from "./database.js";
import type { Notifications } from "./notifications.js";

/** The columns of what is read: a text within JSON would be parsed twice. */
interface Row {
  readonly id: string;
  readonly text: string;
  readonly used_at: unknown;
}

/** What a call waits for, most of the time: the other statement takes twice as long. */
const findSql = (by: "id" | "alias") => /* sql */ `
select id, text, used_at from infergate.record where kind = $1 and ${by} = $2`;

/** Each name by itself, so that it is looked up in the index, whatever the planner takes the number of records to be. */
const getSql = (by: "id" | "alias") => /* sql */ `
select found.id, found.text, found.used_at
from jsonb_array_elements_text($2::text::jsonb) as sought
cross join lateral (select id, text, used_at from infergate.record where kind = $1 and ${by} = sought offset 0) as found`;

/** The collation is that of the owner's index alone: in no other can the planner look for the next id, past all owners. */
const listSql = /* sql */ `
select id, text, used_at from infergate.record where kind = $1 and owner = $2 and id > $3 collate "C"
order by id collate "C" limit $4`;

/** By what must be there: whatever is, nothing, or a text. Each gives what has come of it; nothing is `unexpected`. */
const putSql = {
  any: /* sql */ `
with room as (
  select $6::int is null or exists (select from infergate.record where kind = $1 and id = $2)
    or (select count(*) from infergate.record where kind = $1) < $6 as is_left
), done as (
  insert into infergate.record (kind, id, owner, alias, text) select $1, $2, $3, $4, $5 from room where is_left
  on conflict (kind, id) do update set owner = excluded.owner, alias = excluded.alias, text = excluded.text
)
select to_json(case when is_left then 'put' else 'full' end)::text as json from room`,
  // What has come meanwhile is in the way of the insert, and is not seen by the rest of the statement.
  none: /* sql */ `
with room as (
  select $6::int is null or (select count(*) from infergate.record where kind = $1) < $6 as is_left
), made as (
  insert into infergate.record (kind, id, owner, alias, text) select $1, $2, $3, $4, $5 from room where is_left
  on conflict do nothing returning id
)
select to_json(case
  when exists (select from made) then 'put'
  when is_left or exists (select from infergate.record where kind = $1 and id = $2) then 'unexpected'
  else 'full'
end)::text as json from room`,
  known: /* sql */ `
update infergate.record set owner = $3, alias = $4, text = $5 where kind = $1 and id = $2 and text = $6
returning to_json('put'::text)::text as json`,
};

const removeSql = /* sql */ `
delete from infergate.record where kind = $1 and id = $2 and text = coalesce($3, text) returning to_json(true)::text as json`;

const clearSql = /* sql */ `
delete from infergate.record where kind = $1 and owner = $2 returning to_json(alias)::text as json`;

/** Locks the records in the order of their ids, so that no two processes wait for each other. */
const touchSql = /* sql */ `
with given as (
  select id, max(at) as at from jsonb_to_recordset($2::text::jsonb) as used (id text, at bigint) group by id
), locked as (
  select stored.id, given.at from infergate.record as stored join given using (id)
  where stored.kind = $1 and (stored.used_at is null or stored.used_at < given.at)
  order by stored.id
  for no key update of stored
)
update infergate.record as stored set used_at = greatest(stored.used_at, locked.at)
from locked where stored.kind = $1 and stored.id = locked.id`;

/** Records in one table. Its trigger tells of every change, by hand too. */
export class PostgresRecordStore implements RecordStore {
  readonly #database: Database;
  readonly subscribe?: NonNullable<RecordStore["subscribe"]>;

  constructor(database: Database, notifications: Notifications) {
    this.#database = database;
    if (!notifications.isEnabled) return;
    this.subscribe = (kind, onChange) => notifications.subscribe(`${database.schema}_${kind}`, onChange);
  }

  async get(kind: RecordKind, by: "id" | "alias", names: readonly string[]): Promise<readonly KeptRecord[]> {
    const [only = "", ...others] = names;
    const [sql, sought] = others.length === 0 ? [findSql(by), only] : [getSql(by), JSON.stringify(names)];
    return (await this.#database.rows<Row>(sql, [kind, sought])).map(toKept);
  }

  async list(kind: RecordKind, { owner, after, limit }: RecordRange): Promise<readonly KeptRecord[]> {
    return (await this.#database.rows<Row>(listSql, [kind, owner, after, limit])).map(toKept);
  }

  async put(
    kind: RecordKind,
    { id, owner, alias, text }: RecordData,
    { expected, most }: RecordCondition = {},
  ): Promise<RecordPut> {
    const rule = typeof expected === "string" ? "known" : expected === null ? "none" : "any";
    const values = [kind, id, owner, alias, text, typeof expected === "string" ? expected : (most ?? null)];
    try {
      const [outcome] = await this.#database.query<RecordPut>(putSql[rule], values);
      return outcome ?? "unexpected";
    } catch (error) {
      // The alias is another record's.
      if (isDuplicateKey(error)) return "unexpected";
      throw error;
    }
  }

  async remove(kind: RecordKind, id: string, expected?: string): Promise<boolean> {
    return (await this.#database.query(removeSql, [kind, id, expected ?? null])).length > 0;
  }

  async clear(kind: RecordKind, owner: string): Promise<readonly string[]> {
    return (await this.#database.query<string | null>(clearSql, [kind, owner])).flatMap((alias) => alias ?? []);
  }

  async touch(kind: RecordKind, uses: readonly RecordUse[]): Promise<void> {
    await this.#database.query(touchSql, [kind, JSON.stringify(uses)]);
  }
}

function toKept({ id, text, used_at }: Row): KeptRecord {
  return { id, text, usedAt: used_at === null ? null : Number(used_at) };
}
