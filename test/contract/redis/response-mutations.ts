import type { Mutation } from "../../meta/mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "no response expires",
    find: "return putAt and tonumber(putAt) + ttlMs > now",
    replace: "return putAt",
  },
  {
    name: "a response expires late",
    find: "return putAt and tonumber(putAt) + ttlMs > now",
    replace: "return putAt and tonumber(putAt) + ttlMs >= now",
  },
  {
    name: "an item of a response that has expired is found",
    find: "if field and isAlive(string.sub(field, 1, 15)) then return field end",
    replace: "if field then return field end",
  },
  {
    name: "items of ids that begin alike are one",
    find: "local begin = itemId .. '\\\\0'",
    replace: "local begin = itemId",
  },
  {
    name: "an older response's item is found",
    find: "local newest = call('ZREVRANGEBYLEX', itemsKey, '[' .. begin .. '\\\\255', '[' .. begin,",
    replace: "local newest = call('ZRANGEBYLEX', itemsKey, '[' .. begin, '[' .. begin .. '\\\\255',",
  },
  {
    name: "two responses share a stamp",
    find: "if newest and tonumber(newest) >= now then stamp = toStamp(newest + 1) end\n",
    replace: "",
  },
  {
    name: "a response that is replaced leaves its items",
    find: "if call('ZSCORE', orderKey, id) then remove(id) end\n",
    replace: "",
  },
  { name: "a response that is too large is kept", find: "if bytes > maxBytes then return 0 end\n", replace: "" },
  { name: "responses of an account have no bound", find: "while total > maxBytes do", replace: "while false do" },
  {
    name: "deleted responses count on",
    find: "call('HINCRBY', textsKey, 'bytes', -cjson.decode(head).bytes)",
    replace: "",
  },
  { name: "items outlive their response", find: "call('ZREM', itemsKey, itemId .. '\\\\0' .. field)", replace: "" },
  { name: "an item's text outlives its response", find: "    call('HDEL', textsKey, field)\n", replace: "" },
  { name: "a response's text outlives it", find: "call('HDEL', textsKey, stamp, stamp .. ':at')", replace: "" },
  { name: "a response's head outlives it", find: "call('HDEL', headsKey, id)", replace: "" },
  {
    name: "the sum of an account outlives its responses",
    find: "if call('ZCARD', orderKey) == 0 then call('DEL', textsKey) end",
    replace: "",
  },
  { name: "responses that have expired stay", find: "  remove(oldest[index])\n", replace: "" },
  {
    name: "responses that are not used any more stay",
    find: "for _, key in ipairs(KEYS) do call('PEXPIRE', key, ttlMs) end",
    replace: "",
  },
  { name: "a response without a head stops the account", find: "  if not head then return end\n", replace: "" },
  { name: "a chain of responses has no end", find: "while id and #chain < most do", replace: "while id do" },
  {
    name: "accounts share their responses",
    find: "(accountId)}}:responses`;",
    replace: "(accountId).slice(22)}}:responses`;",
  },
];

export const responseMutations: readonly Mutation[] = lines.map((line) => ({
  ...line,
  test: ["redis-response-store", "redis-stores"],
}));
