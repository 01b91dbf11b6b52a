import type { Mutation } from "../mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "a budget is not listed",
    find: "redis.call('ZADD', KEYS[2], 0, field)\n",
    replace: "",
  },
  {
    name: "a budget is put unheard",
    find: "field)\nredis.call('PUBLISH', channel, 'budget ' .. account)\nreturn 1\n`;\n\nexport const removeBudget",
    replace: "field)\nreturn 1\n`;\n\nexport const removeBudget",
  },
  {
    name: "a removed budget keeps its place in the list",
    find: "redis.call('ZREM', KEYS[2], field)\n",
    replace: "",
  },
  {
    name: "a budget that was not there is removed",
    find: "if redis.call('HDEL', KEYS[1], field) == 0 then return 0 end",
    replace: "redis.call('HDEL', KEYS[1], field)",
  },
  {
    name: "a budget is removed unheard",
    find: "redis.call('ZREM', KEYS[2], field)\nredis.call('PUBLISH', channel, 'budget ' .. account)\n",
    replace: "redis.call('ZREM', KEYS[2], field)\n",
  },
  {
    name: "the list of budgets outlives its account",
    find: "if redis.call('UNLINK', unpack(KEYS))",
    replace: "if redis.call('UNLINK', KEYS[1])",
  },
  {
    name: "budgets are forgotten unheard",
    find: " > 0 then redis.call('PUBLISH', channel, 'budget ' .. account) end",
    replace: " < 0 then redis.call('PUBLISH', channel, 'budget ' .. account) end",
  },
  {
    name: "a model that is there is made anew",
    find: "rule == 'none' and earlier or ",
    replace: "",
  },
  {
    name: "a model that has changed is replaced",
    find: " or rule == 'known' and earlier ~= expected then",
    replace: " then",
  },
  {
    name: "there may be any number of models",
    find: ">= tonumber(most)",
    replace: ">= 10 * tonumber(most)",
  },
  {
    name: "a full store takes no change of a model",
    find: "if not earlier and redis.call('HLEN'",
    replace: "if redis.call('HLEN'",
  },
  {
    name: "a model is put unheard",
    find: "redis.call('PUBLISH', channel, 'model ' .. id)\nreturn 'put'",
    replace: "return 'put'",
  },
  {
    name: "a model that has changed is removed",
    find: "if expected and redis.call('HGET', KEYS[1], id) ~= expected then return 0 end\n",
    replace: "",
  },
  {
    name: "a model is removed unheard",
    find: "redis.call('PUBLISH', channel, 'model ' .. id)\nreturn 1",
    replace: "return 1",
  },
  {
    name: "some models are listed",
    find: '} while (cursor !== "0");',
    replace: "} while (false);",
  },
];

/** Of the stores of budgets and models. */
export const catalogMutations: readonly Mutation[] = lines.map((line) => ({ ...line, test: "redis-stores" }));
