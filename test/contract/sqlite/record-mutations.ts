import type { Mutation } from "../../meta/mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "records of other kinds are found",
    find: "used_at FROM infergate_record WHERE kind = ? AND",
    replace: "used_at FROM infergate_record WHERE kind >= ? AND",
  },
  {
    name: "a record is listed twice",
    find: "owner = ? AND id > ? ORDER BY id LIMIT ?",
    replace: "owner = ? AND id >= ? ORDER BY id LIMIT ?",
  },
  {
    name: "records are listed in no order",
    find: "owner = ? AND id > ? ORDER BY id LIMIT ?",
    replace: "owner = ? AND id > ? ORDER BY id DESC LIMIT ?",
  },
  {
    name: "records of other owners are listed",
    find: "} owner = ? AND id > ?",
    replace: "} owner >= ? AND id > ?",
  },
  {
    name: "a record that is not as expected is replaced",
    find: '      if (expected !== undefined && expected !== (earlier?.text ?? null)) return "unexpected";\n',
    replace: "",
  },
  {
    name: "there may be any number of records",
    find: "toNumber(this.#countOf(kind)) >= most)",
    replace: "toNumber(this.#countOf(kind)) >= 10 * most)",
  },
  {
    name: "a full store takes no change of a record",
    find: "if (earlier === undefined && most < Infinity",
    replace: "if (most < Infinity",
  },
  {
    name: "a record that has changed is removed",
    find: "text = coalesce(?, text) RETURNING id",
    replace: "text = coalesce(text, ?) RETURNING id",
  },
  {
    name: "records of other owners are cleared",
    find: "WHERE kind = ? AND owner = ? RETURNING alias",
    replace: "WHERE kind = ? AND owner >= ? RETURNING alias",
  },
  {
    name: "a use is put back",
    find: "(used_at IS NULL OR used_at < ?3)",
    replace: "?3 = ?3",
  },
];

/** Of keys, plans, accounts, budgets and models. */
export const recordMutations: readonly Mutation[] = lines.map((line) => ({ ...line, test: "sqlite-stores" }));
