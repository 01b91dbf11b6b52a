import type { Mutation } from "../mutation/mutation.js";

/** Of the stores of budgets and models. */
export const catalogMutations: readonly Mutation[] = [
  {
    name: "budgets of other accounts are found",
    find: 'FROM infergate_budget WHERE account = ? AND"',
    replace: 'FROM infergate_budget WHERE account >= ? AND"',
  },
  {
    name: "all budgets of an account are read",
    find: "field IN (SELECT value FROM json_each(?))",
    replace: "field NOT IN (SELECT value FROM json_each(?))",
  },
  {
    name: "a budget is listed twice",
    find: "field > ? ORDER BY field LIMIT ?",
    replace: "field >= ? ORDER BY field LIMIT ?",
  },
  {
    name: "budgets are listed in no order",
    find: "field > ? ORDER BY field LIMIT ?",
    replace: "field > ? ORDER BY budget DESC LIMIT ?",
  },
  {
    name: "all budgets of an account are removed",
    find: "WHERE account = ? AND field = ? RETURNING field",
    replace: "WHERE account = ? AND field >= ? RETURNING field",
  },
  {
    name: "budgets of other accounts are forgotten",
    find: 'DELETE FROM infergate_budget WHERE account = ?"',
    replace: 'DELETE FROM infergate_budget WHERE account >= ?"',
  },
  {
    name: "a model that is not as expected is replaced",
    find: '        if (expected !== undefined && expected !== (earlier ?? null)) return "unexpected";\n',
    replace: "",
  },
  {
    name: "there may be any number of models",
    find: ".count) >= most)",
    replace: ".count) >= 10 * most)",
  },
  {
    name: "a full store takes no change of a model",
    find: "if (earlier === undefined && toNumber(",
    replace: "if (toNumber(",
  },
  {
    name: "a model that has changed is removed",
    find: "WHERE id = ? AND model = coalesce(?, model) RETURNING id",
    replace: "WHERE id = ? AND model = coalesce(model, ?) RETURNING id",
  },
];
