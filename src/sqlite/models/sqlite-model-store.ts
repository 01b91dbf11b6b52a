import { requireKnownOptions } from "../../check/known-options.js";
import { checkedModelStore, type ModelText } from "../../models/checked-model-store.js";
import type { ModelStore } from "../../models/model-store.js";
import { toNumber } from "../numbers.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "../sqlite-connection.js";

/**
 * Models in a SQLite database.
 *
 * @throws RangeError when `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteModelStore(options: SqliteOptions): ModelStore {
  requireKnownOptions("sqliteModelStore", options, knownSqliteOptions);
  return modelStoreOf(new SqliteConnection(options));
}

export function modelStoreOf(connection: SqliteConnection): ModelStore {
  const all = connection.prepare("SELECT id, model AS text FROM infergate_model");
  const byId = connection.prepare("SELECT model AS text FROM infergate_model WHERE id = ?");
  const count = connection.prepare("SELECT count(*) AS count FROM infergate_model");
  const put = connection.prepare("REPLACE INTO infergate_model (id, model) VALUES (?, ?)");
  const remove = connection.prepare(
    "DELETE FROM infergate_model WHERE id = ? AND model = coalesce(?, model) RETURNING id",
  );

  function find(id: string): string | undefined {
    return (byId.get(id) as { text: string } | null | undefined)?.text;
  }

  return checkedModelStore("sqliteModelStore", {
    list: async () => (await connection.read(() => all.all())) as ModelText[],
    find: async (id) => connection.read(() => find(id)),
    async put({ id, text, expected, most }) {
      return connection.write(() => {
        const earlier = find(id);
        if (expected !== undefined && expected !== (earlier ?? null)) return "unexpected";
        if (earlier === undefined && toNumber((count.get() as { count: unknown }).count) >= most) return "full";
        put.run(id, text);
        return "put";
      });
    },
    remove: async (id, expected) => (await connection.write(() => remove.all(id, expected ?? null))).length > 0,
  });
}
