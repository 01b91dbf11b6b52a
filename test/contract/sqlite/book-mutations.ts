import type { Mutation } from "../../meta/mutation/mutation.js";

/** Of the audit trail and the log of requests. */
export const bookMutations: readonly Mutation[] = [
  {
    name: "the account that a key joins does not find its move",
    find: 'read("moved_to = ? AND ")',
    replace: 'read("moved_to < ? AND ")',
  },
  {
    name: "an audit entry stands on two pages",
    find: "place >= ? AND place < ?`",
    replace: "place >= ? AND place <= ?`",
  },
  {
    name: "an audit entry is changed",
    find: "ON CONFLICT (place) DO NOTHING",
    replace: "ON CONFLICT (place) DO UPDATE SET entry = excluded.entry",
  },
  {
    name: "audit entries are kept for ever",
    part: "sqlite-audit-trail",
    find: "        purge();\n",
    replace: "",
  },
  {
    name: "one of several filters of the audit trail counts",
    find: "if (isFound && found",
    replace: "if (found",
  },
  {
    name: "a line that is there already is counted",
    find: "if (this.#insert.all(...values).length === 0) return false;",
    replace: "this.#insert.all(...values);",
    test: "sqlite-stores",
  },
  {
    name: "lines beyond their number are kept",
    find: "    this.#deleteAll(this.#tooMany.all(maxRows, most));\n",
    replace: "",
    test: "sqlite-stores",
  },
  {
    name: "old lines are kept",
    find: "    this.#deleteAll(this.#tooOld.all(now - maxMs, most));\n",
    replace: "",
    test: "sqlite-stores",
  },
  {
    name: "the texts of a line are listed",
    find: "SELECT sequence, line, NULL AS texts FROM infergate_request WHERE",
    replace: "SELECT sequence, line, texts FROM infergate_request WHERE",
    test: "sqlite-stores",
  },
  {
    name: "other values of a tag are found",
    find: "AND name = ? AND value = ? AND $",
    replace: "AND name = ? AND value >= ? AND $",
    test: "sqlite-stores",
  },
];
