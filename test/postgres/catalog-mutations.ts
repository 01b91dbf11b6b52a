import type { Mutation } from "../mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "budgets of every account are found",
    find: "where account = $1 and field = sought offset 0",
    replace: "where $1::text is not null and field = sought offset 0",
  },
  {
    name: "all budgets of an account are read",
    find: "field = sought offset 0",
    replace: "field <> sought offset 0",
  },
  {
    name: "a budget that is there is not replaced",
    find: "on conflict (account, field) do update set budget = excluded.budget",
    replace: "on conflict (account, field) do update set budget = budget.budget",
  },
  {
    name: "all budgets of an account are removed",
    find: "where account = $1 and field = $2 returning",
    replace: "where account = $1 and field >= $2 returning",
  },
  {
    name: "a budget is listed twice",
    find: "where account = $1 and field > $2 order by field limit $3",
    replace: "where account = $1 and field >= $2 order by field limit $3",
  },
  {
    name: "budgets are listed in no order",
    find: "where account = $1 and field > $2 order by field limit $3",
    replace: "where account = $1 and field > $2 order by reverse(field) limit $3",
  },
  {
    name: "budgets of other accounts are forgotten",
    find: 'delete from infergate.budget where account = $1"',
    replace: 'delete from infergate.budget where account >= $1"',
  },
  {
    name: "a model that has changed is replaced",
    find: "where id = $1 and model = $3 returning id",
    replace: "where id = $1 and $3::text is not null returning id",
  },
  {
    name: "a model that is there is made anew",
    find: "from room where is_left on conflict do nothing returning id",
    replace: "from room where is_left on conflict (id) do update set model = excluded.model returning id",
  },
  {
    name: "a model that came meanwhile is taken for one too many",
    find: "when is_left or exists (select from infergate.model where id = $1) then 'unexpected'",
    replace: "when exists (select from infergate.model where id = $1) then 'unexpected'",
  },
  {
    name: "one that is there is taken for one too many",
    find: "when is_left or exists (select from infergate.model where id = $1) then 'unexpected'",
    replace: "when is_left then 'unexpected'",
  },
  {
    name: "a full store takes no change of a model",
    find: "select exists (select from infergate.model where id = $1) or (select count(*)",
    replace: "select (select count(*)",
  },
  {
    name: "there may be any number of models",
    find: "select (select count(*) from infergate.model) < $3 as is_left",
    replace: "select (select count(*) from infergate.model) < 10 * $3 as is_left",
  },
  {
    name: "a model that has changed is removed",
    find: "model = coalesce($2, model) returning",
    replace: "model = coalesce(model, $2) returning",
  },
];

/** Of the stores of budgets and models. */
export const catalogMutations: readonly Mutation[] = lines.map((line) => ({ ...line, test: "postgres-stores" }));
