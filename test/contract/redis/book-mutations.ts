import type { Mutation } from "../../meta/mutation/mutation.js";

/** Of the audit trail and the log of requests. */
export const bookMutations: readonly Mutation[] = [
  {
    name: "the account that a key joins does not find its move",
    find: "if movedTo ~= '' then call('ZADD', KEYS[3], 0, movedTo .. '\\\\0' .. place) end\n",
    replace: "",
    test: "redis-stores",
  },
  {
    name: "an audit entry is changed",
    find: "if call('HSETNX', entriesKey, place, json) == 0 then return 0 end",
    replace: "call('HSET', entriesKey, place, json)",
    test: "redis-stores",
  },
  {
    name: "audit entries beyond their number are kept",
    find: "if count <= most and not isTooOld then break end",
    replace: "if not isTooOld then break end",
    test: "redis-stores",
  },
  {
    name: "old audit entries are kept",
    find: "if count <= most and not isTooOld then break end",
    replace: "if count <= most then break end",
    test: "redis-stores",
  },
  {
    name: "a line that is there already is counted",
    find: "if call('HSETNX', lines, place, entry) == 1 then",
    replace: "if call('HSET', lines, place, entry) then",
    test: "redis-stores",
  },
  {
    name: "the texts of a line are lost",
    find: "    if text ~= '' then call('HSET', texts, place, text) end\n",
    replace: "",
    test: "redis-stores",
  },
  {
    name: "lines beyond their number are kept",
    find: "if turn > excess and member >= first .. oldest then break end",
    replace: "if member >= first .. oldest then break end",
    test: "redis-stores",
  },
  {
    name: "old lines are kept",
    find: "if turn > excess and member >= first .. oldest then break end",
    replace: "if turn > excess then break end",
    test: "redis-stores",
  },
  {
    name: "the lines of a forgotten account stay",
    find: "for _, member in ipairs(members) do remove(string.sub(member, ARGV[4] + 1)) end",
    replace: "",
    test: "redis-stores",
  },
];
