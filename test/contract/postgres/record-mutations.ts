import type { Mutation } from "../../meta/mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "records of other kinds are found",
    find: " = sought offset 0",
    replace: " = sought or kind <> $1 offset 0",
  },
  {
    name: "a record is listed twice",
    find: 'id > $3 collate "C"',
    replace: 'id >= $3 collate "C"',
  },
  {
    name: "records are listed in no order",
    find: 'order by id collate "C" limit',
    replace: 'order by reverse(id) collate "C" limit',
  },
  {
    name: "records of other owners are listed",
    find: "where kind = $1 and owner = $2 and",
    replace: "where kind = $1 and owner >= $2 and",
  },
  {
    name: "a record that is there is not replaced",
    find: "alias = excluded.alias, text = excluded.text",
    replace: "alias = excluded.alias",
  },
  {
    name: "a record that has changed is replaced",
    find: "and id = $2 and text = $6\n",
    replace: "and id = $2 and $6::text is not null\n",
  },
  {
    name: "a record that is there is made anew",
    find: "on conflict do nothing returning id",
    replace: "on conflict (kind, id) do update set text = excluded.text returning id",
  },
  {
    name: "one that is there is taken for one too many",
    find: "when is_left or exists (select from infergate.record where kind = $1 and id = $2) then 'unexpected'",
    replace: "when is_left then 'unexpected'",
  },
  {
    name: "a full store takes no change of a record",
    find: " or exists (select from infergate.record where kind = $1 and id = $2)\n",
    replace: "\n",
  },
  {
    name: "there may be any number of records",
    find: "is null or (select count(*) from infergate.record where kind = $1) < $6 as is_left",
    replace: "is null or (select count(*) from infergate.record where kind = $1) < 10 * $6 as is_left",
  },
  {
    name: "a record that has changed is removed",
    find: "text = coalesce($3, text) returning",
    replace: "text = coalesce(text, $3) returning",
  },
  {
    name: "records of other owners are cleared",
    find: "where kind = $1 and owner = $2 returning",
    replace: "where kind = $1 and owner >= $2 returning",
  },
  {
    name: "a use is put back",
    find: "set used_at = greatest(stored.used_at, locked.at)",
    replace: "set used_at = least(stored.used_at, locked.at)",
  },
  {
    name: "uses are told",
    find: "update of kind, id, owner, alias, text on infergate.record",
    replace: "update on infergate.record",
  },
  {
    name: "what goes is not told",
    find: "if tg_op <> 'INSERT' then",
    replace: "if tg_op = 'UPDATE' then",
  },
  {
    name: "what comes is not told",
    find: "if tg_op <> 'DELETE' then",
    replace: "if tg_op = 'UPDATE' then",
  },
];

/** Of keys, plans, accounts, budgets and models. */
export const recordMutations: readonly Mutation[] = lines.map((line) => ({ ...line, test: "postgres-stores" }));
