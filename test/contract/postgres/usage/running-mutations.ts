// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is found in the source, where codes stand in templates
import type { Mutation } from "../../../meta/mutation/mutation.js";

const running = "usage/postgres-running";

/** Lines of the running totals of days to break. */
export const runningMutations: readonly Mutation[] = [
  {
    name: "what is added does not take back that its day has running totals",
    find: ", sliced = false, running = false\n",
    replace: ", sliced = false\n",
    test: running,
  },
  {
    name: "running totals are no totals",
    find: "array_agg(${count} order by quarter) end`",
    replace: "array_agg(${count} order by quarter desc) end`",
    test: running,
  },
  {
    name: "a part of a day begins a quarter late",
    find: "${begun - 1}::smallint",
    replace: "${begun}::smallint",
    test: running,
  },
  {
    name: "the journal answers for what running totals have",
    find: " and not has_running\n",
    replace: "\n",
    test: running,
  },
  {
    name: "tags that a day does not know have running totals",
    find: 'bool_and(running ${hasTags ? "and tags is not null" : ""})',
    replace: "bool_and(running)",
    test: running,
  },
  {
    name: "running totals are not made",
    find: "await database.query(runSql, [slicedAtOnce]).catch(() => [false]);",
    replace: "[false];",
    test: running,
  },
  {
    name: "running totals survive their account",
    find: "array(select ctid from infergate.usage_running where account = wanted limit step_size)",
    replace: "array(select ctid from infergate.usage_running where false)",
    test: running,
  },
  {
    name: "running totals are made for days that are not over",
    find: "day > greatest(done.day, dropped / 86400000) and day < this_day",
    replace: "day > greatest(done.day, dropped / 86400000)",
    test: running,
  },
];
