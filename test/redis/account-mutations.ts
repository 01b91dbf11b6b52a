import type { Mutation } from "../mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "a change of plan lifts a suspension",
    find: "if kept[1] then redis.call('HSET', account, 'status', kept[1]) end",
    replace: "",
  },
  {
    name: "a change of plan drops the message of a suspension",
    find: "if kept[2] then redis.call('HSET', account, 'message', kept[2]) end",
    replace: "",
  },
  {
    name: "an account keeps what it was not put with",
    find: "redis.call('DEL', account)\nredis.call('HSET', account, unpack(ARGV, 4))",
    replace: "redis.call('HSET', account, unpack(ARGV, 4))",
  },
  {
    name: "a put account is not listed",
    find: "kept[2]) end\nredis.call('ZADD', ids, 0, id)\n",
    replace: "kept[2]) end\n",
  },
  {
    name: "an account is put unheard",
    find: "kept[2]) end\nredis.call('ZADD', ids, 0, id)\nredis.call('PUBLISH', channel, 'account_record ' .. id)",
    replace: "kept[2]) end\nredis.call('ZADD', ids, 0, id)",
  },
  {
    name: "an account that has changed is replaced",
    find: "if redis.call('HGET', account, ARGV[index]) ~= ARGV[index + 1] then return 0 end",
    replace: "",
  },
  {
    name: "an account that has come meanwhile is replaced",
    find: "if 2 * redis.call('HLEN', account) ~= lastExpected - 3 then return 0 end",
    replace: "",
  },
  {
    name: "a replaced account keeps what it was not put with",
    find: "redis.call('DEL', account)\nredis.call('HSET', account, unpack(ARGV, lastExpected + 1))",
    replace: "redis.call('HSET', account, unpack(ARGV, lastExpected + 1))",
  },
  {
    name: "an account that none was expected of is not listed",
    find: "lastExpected + 1))\nredis.call('ZADD', ids, 0, id)\n",
    replace: "lastExpected + 1))\n",
  },
  {
    name: "an account is replaced unheard",
    find: "lastExpected + 1))\nredis.call('ZADD', ids, 0, id)\nredis.call('PUBLISH', channel, 'account_record ' .. id)",
    replace: "lastExpected + 1))\nredis.call('ZADD', ids, 0, id)",
  },
  {
    name: "an account that is not there is updated",
    find: "if redis.call('EXISTS', account) == 0 then return {} end",
    replace: "",
  },
  {
    name: "an account keeps what was taken away",
    find: "if lastSet < #ARGV then redis.call('HDEL', account, unpack(ARGV, lastSet + 1)) end",
    replace: "",
  },
  {
    name: "an account is forgotten unheard",
    find: "redis.call('PUBLISH', ARGV[2], 'account_record ' .. ARGV[1])\n",
    replace: "",
  },
];

/** Of the store of accounts. */
export const accountMutations: readonly Mutation[] = lines.map((line) => ({ ...line, test: "redis-stores" }));
