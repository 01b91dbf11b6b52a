import type { Mutation } from "../../meta/mutation/mutation.js";

/** Of the audit trail and the log of requests. */
export const bookMutations: readonly Mutation[] = [
  {
    name: "the account that a key joins does not find its move",
    find: 'read("moved_to")',
    replace: 'read("author")',
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "an audit entry is changed",
    part: "postgres-audit-trail",
    find: "on conflict (place) do nothing",
    replace: "on conflict (place) do update set entry = excluded.entry",
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "audit entries beyond their number are kept",
    find: "- $9::bigint + 1\n",
    replace: "- $9::bigint - 10\n",
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "old audit entries are kept",
    find: "where at < infergate.clock_ms() - $8::bigint",
    replace: "where at < 0 - $8::bigint",
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "a refusal is counted as none",
    find: 'refusals: fault === "refusal" ? count : 0',
    replace: "refusals: fault === undefined ? count : 0",
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "a line stands on two pages",
    find: "(at, line_id) < ($",
    replace: "(at, line_id) <= ($",
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "lines of other accounts are forgotten",
    find: "select sequence from infergate.request where account = $1 limit",
    replace: "select sequence from infergate.request where account >= $1 limit",
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "old lines are kept",
    find: '"at < infergate.clock_ms() - $2::bigint order by at"',
    replace: '"at < 0 - $2::bigint order by at"',
    test: ["postgres-stores", "postgres-request-log"],
  },
  {
    name: "lines and counts beyond their number are kept",
    find: "- $1::bigint order by sequence`",
    replace: "- $1::bigint - 1000000 order by sequence`",
    test: ["postgres-stores", "postgres-request-log"],
  },
];
