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
import { literal, type MysqlDatabase, rowsTable, runSql, type SqlValue } from "./mysql-database.js";

export const mysqlRecordTables: readonly string[] = [
  /* sql */ `record (
  kind varbinary(16) not null,
  id varbinary(1400) not null,
  owner varbinary(512) not null,
  alias varbinary(1040),
  text longblob not null,
  used_at bigint,
  primary key (kind, id),
  unique key alias (kind, alias),
  key owner (kind, owner, id)
)`,
];

/** Records in one table. No process hears what another one changes: MySQL has no notices. */
export class MysqlRecordStore implements RecordStore {
  readonly #database: MysqlDatabase;
  readonly #table: string;

  constructor(database: MysqlDatabase) {
    this.#database = database;
    this.#table = `${database.prefix}record`;
  }

  get(kind: RecordKind, by: "id" | "alias", names: readonly string[]): Promise<readonly KeptRecord[]> {
    const asked = [...new Set(names)].map((name) => [name]);
    return this.#read(/* sql */ `
      select straight_join kept.id, kept.text, kept.used_at from ${rowsTable(["name"], asked)} as asked
      join ${this.#table} as kept force index (${by === "id" ? "primary" : "alias"})
        on kept.kind = ${literal(kind)} and kept.${by} = asked.name`);
  }

  list(kind: RecordKind, { owner, after, limit }: RecordRange): Promise<readonly KeptRecord[]> {
    return this.#read(/* sql */ `
      select id, text, used_at from ${this.#table} force index (owner)
      where kind = ${literal(kind)} and owner = ${literal(owner)} and id > ${literal(after)} order by id limit ${limit}`);
  }

  put(kind: RecordKind, record: RecordData, { expected, most = Infinity }: RecordCondition = {}): Promise<RecordPut> {
    const { id, owner, alias, text } = record;
    const ofKind = `kind = ${literal(kind)}`;
    const locked = (by: "id" | "alias", index: string, name: SqlValue) => /* sql */ `(
      select id, text from ${this.#table} force index (${index}) where ${ofKind} and ${by} = ${literal(name)} for update
    )`;
    return this.#database.write(async (connection) => {
      const found = await runSql(
        connection,
        `${locked("id", "primary", id)} union all ${locked("alias", "alias", alias)}`,
      );
      const there = new Map(found.map(([name, known]) => [String(name), String(known)]));
      const earlier = there.get(id) ?? null;
      const isOthers = there.size > (earlier === null ? 0 : 1);
      if (isOthers || (expected !== undefined && expected !== earlier)) return "unexpected";
      if (earlier === null && most < Infinity) {
        const [row] = await runSql(connection, `select count(*) from ${this.#table} where ${ofKind}`);
        if (Number(row?.[0]) >= most) return "full";
      }
      const [ofOwner, ofAlias, ofText] = [literal(owner), literal(alias), literal(text)];
      const isNew = /* sql */ `insert into ${this.#table} (kind, id, owner, alias, text)
        values (${literal(kind)}, ${literal(id)}, ${ofOwner}, ${ofAlias}, ${ofText})`;
      const isKnown = /* sql */ `update ${this.#table} set owner = ${ofOwner}, alias = ${ofAlias}, text = ${ofText}
        where ${ofKind} and id = ${literal(id)}`;
      await runSql(connection, earlier === null ? isNew : isKnown);
      return "put";
    });
  }

  async remove(kind: RecordKind, id: string, expected?: string): Promise<boolean> {
    const isSame = expected === undefined ? "" : ` and text = ${literal(expected)}`;
    return (await this.#remove(kind, "primary", `id = ${literal(id)}${isSame}`)).length > 0;
  }

  async clear(kind: RecordKind, owner: string): Promise<readonly string[]> {
    return (await this.#remove(kind, "owner", `owner = ${literal(owner)}`)).flatMap((alias) => alias ?? []);
  }

  async touch(kind: RecordKind, uses: readonly RecordUse[]): Promise<void> {
    // The last one of an id is its latest.
    const latest = new Map(uses.toSorted((one, other) => one.at - other.at).map(({ id, at }) => [id, String(at)]));
    if (latest.size === 0) return;
    // In the order of the ids, so that no two processes wait for each other.
    const used = rowsTable(["id", "at"], [...latest].sort());
    const sql = /* sql */ `
      update ${used} as used straight_join ${this.#table} as kept force index (primary)
        on kept.kind = ${literal(kind)} and kept.id = used.id
      set kept.used_at = greatest(coalesce(kept.used_at, 0), cast(used.at as signed))`;
    await this.#database.write((connection) => runSql(connection, sql));
  }

  async #read(sql: string): Promise<readonly KeptRecord[]> {
    const rows = await this.#database.read((connection) => runSql(connection, sql));
    return rows.map(([id, text, usedAt]) => ({
      id: String(id),
      text: String(text),
      usedAt: usedAt === null ? null : Number(usedAt),
    }));
  }

  /** @returns the aliases of those that have gone. */
  #remove(kind: RecordKind, index: "primary" | "owner", condition: string): Promise<readonly (string | null)[]> {
    return this.#database.write(async (connection) => {
      const ofKind = `kind = ${literal(kind)}`;
      const found = await runSql(
        connection,
        `select id, alias from ${this.#table} force index (${index}) where ${ofKind} and ${condition} for update`,
      );
      const gone = rowsTable(
        ["id"],
        found.map(([id]) => [String(id)]),
      );
      await runSql(
        connection,
        /* sql */ `
        delete kept from ${gone} as gone
        straight_join ${this.#table} as kept force index (primary) on kept.${ofKind} and kept.id = gone.id`,
      );
      return found.map(([, alias]) => (alias === null ? null : String(alias)));
    });
  }
}
