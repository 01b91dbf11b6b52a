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
import type { SqliteConnection } from "./sqlite-connection.js";
import { type SqliteStatement, toNumber, toNumberOrNull } from "./sqlite-database.js";

interface Row {
  id: string;
  text: string;
  used_at: unknown;
}

/** Records in one table. No process hears what another one changes: SQLite has no notices. */
export class SqliteRecordStore implements RecordStore {
  readonly #connection: SqliteConnection;
  readonly #by: Readonly<Record<"id" | "alias", SqliteStatement>>;
  readonly #after: SqliteStatement;
  readonly #count: SqliteStatement;
  readonly #insert: SqliteStatement;
  readonly #update: SqliteStatement;
  readonly #remove: SqliteStatement;
  readonly #clear: SqliteStatement;
  readonly #touch: SqliteStatement;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    const select = "SELECT id, text, used_at FROM infergate_record WHERE kind = ? AND";
    this.#by = { id: connection.prepare(`${select} id = ?`), alias: connection.prepare(`${select} alias = ?`) };
    this.#after = connection.prepare(`${select} owner = ? AND id > ? ORDER BY id LIMIT ?`);
    this.#count = connection.prepare("SELECT count(*) AS count FROM infergate_record WHERE kind = ?");
    this.#insert = connection.prepare(
      "INSERT INTO infergate_record (owner, alias, text, kind, id) VALUES (?, ?, ?, ?, ?)",
    );
    this.#update = connection.prepare(
      "UPDATE infergate_record SET owner = ?, alias = ?, text = ? WHERE kind = ? AND id = ?",
    );
    this.#remove = connection.prepare(
      "DELETE FROM infergate_record WHERE kind = ? AND id = ? AND text = coalesce(?, text) RETURNING id",
    );
    this.#clear = connection.prepare("DELETE FROM infergate_record WHERE kind = ? AND owner = ? RETURNING alias");
    this.#touch = connection.prepare(`
      UPDATE infergate_record SET used_at = ?3
      WHERE kind = ?1 AND id = ?2 AND (used_at IS NULL OR used_at < ?3)`);
  }

  async get(kind: RecordKind, by: "id" | "alias", names: readonly string[]): Promise<readonly KeptRecord[]> {
    // One by one: for a list of them, SQLite reads all records of the kind.
    return this.#connection.read(() => names.flatMap((name) => this.#find(kind, by, name) ?? []));
  }

  async list(kind: RecordKind, { owner, after, limit }: RecordRange): Promise<readonly KeptRecord[]> {
    const rows = await this.#connection.read(() => this.#after.all(kind, owner, after, limit));
    return rows.map(toKept);
  }

  async put(
    kind: RecordKind,
    { id, owner, alias, text }: RecordData,
    { expected, most = Infinity }: RecordCondition = {},
  ): Promise<RecordPut> {
    return this.#connection.write(() => {
      const earlier = this.#find(kind, "id", id);
      if (expected !== undefined && expected !== (earlier?.text ?? null)) return "unexpected";
      if (alias !== null && (this.#find(kind, "alias", alias)?.id ?? id) !== id) return "unexpected";
      if (earlier === undefined && most < Infinity && toNumber(this.#countOf(kind)) >= most) return "full";
      (earlier === undefined ? this.#insert : this.#update).run(owner, alias, text, kind, id);
      return "put";
    });
  }

  #find(kind: RecordKind, by: "id" | "alias", name: string): KeptRecord | undefined {
    const row = this.#by[by].get(kind, name);
    return row ? toKept(row) : undefined;
  }

  #countOf(kind: RecordKind): unknown {
    return (this.#count.get(kind) as { count: unknown }).count;
  }

  async remove(kind: RecordKind, id: string, expected?: string): Promise<boolean> {
    return (await this.#connection.write(() => this.#remove.all(kind, id, expected ?? null))).length > 0;
  }

  async clear(kind: RecordKind, owner: string): Promise<readonly string[]> {
    const rows = await this.#connection.write(() => this.#clear.all(kind, owner));
    return rows.flatMap((row) => (row as { alias: string | null }).alias ?? []);
  }

  async touch(kind: RecordKind, uses: readonly RecordUse[]): Promise<void> {
    await this.#connection.write(() => {
      for (const { id, at } of uses) this.#touch.run(kind, id, at);
    });
  }
}

function toKept(row: unknown): KeptRecord {
  const { id, text, used_at } = row as Row;
  return { id, text, usedAt: toNumberOrNull(used_at) };
}
