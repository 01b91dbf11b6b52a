import type { Mutation } from "../../meta/mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "a record that is there is made anew",
    find: "rule == 'none' and earlier or ",
    replace: "",
  },
  {
    name: "a record that has changed is replaced",
    find: " or rule == 'known' and earlier ~= expected then",
    replace: " then",
  },
  {
    name: "two records have one alias",
    find: "if taken and taken ~= id then return 'unexpected' end\n",
    replace: "",
  },
  {
    name: "there may be any number of records",
    find: ">= tonumber(most)",
    replace: ">= 10 * tonumber(most)",
  },
  {
    name: "a full store takes no change of a record",
    find: "if not earlier and most ~= ''",
    replace: "if most ~= ''",
  },
  {
    name: "a record is listed with its former owner",
    find: "  call('ZREM', order, ownerBefore .. '\\\\n' .. id)\n",
    replace: "",
  },
  {
    name: "a record is not listed",
    find: "call('ZADD', order, 0, owner .. '\\\\n' .. id)\n",
    replace: "",
  },
  {
    name: "a record is put unheard",
    find: "call('PUBLISH', channel, notice)\nreturn 'put'",
    replace: "return 'put'",
  },
  {
    name: "a record that is gone keeps its place in the list",
    find: "  call('ZREM', order, owner .. '\\\\n' .. id)\n",
    replace: "",
  },
  {
    name: "what is gone leaves its use behind",
    find: ", 'u' .. id, 'a' .. (alias or ''))",
    replace: ", 'a' .. (alias or ''))",
  },
  {
    name: "an alias outlives its record",
    find: ", 'a' .. (alias or ''))",
    replace: ")",
  },
  {
    name: "a record that has changed is removed",
    find: "if not text or expected and text ~= expected then return 0 end",
    replace: "if not text then return 0 end",
  },
  {
    name: "a record is removed unheard",
    find: "call('PUBLISH', channel, alias and kind .. ' ' .. alias or notice)\n",
    replace: "",
  },
  {
    name: "records are cleared unheard",
    find: "if #aliases < #places then call('PUBLISH', channel, notice) end\n",
    replace: "",
  },
  {
    name: "aliases are cleared unheard",
    find: "    call('PUBLISH', channel, kind .. ' ' .. alias)\n",
    replace: "",
  },
  {
    name: "some records are cleared",
    find: "count === mostPerScript; ) {",
    replace: "count > mostPerScript; ) {",
  },
  {
    name: "some records are listed",
    find: "if (Number(count) < size) break;",
    replace: "if (Number(count) <= size) break;",
  },
  {
    name: "a use is put back",
    find: "local isLater = not last or tonumber(at) > tonumber(last)\n  if isLater and",
    replace: "if",
  },
  {
    name: "uses are compared as texts",
    find: "tonumber(at) > tonumber(last)",
    replace: "at > last",
  },
  {
    name: "what is not there is used",
    find: " and call('HEXISTS', texts, id) == 1 then",
    replace: " then",
  },
];

/** Of keys, plans, accounts, budgets and models. */
export const recordMutations: readonly Mutation[] = lines.map((line) => ({ ...line, test: "redis-stores" }));
