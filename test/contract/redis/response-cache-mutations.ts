import type { Mutation } from "../../meta/mutation/mutation.js";

const lines: readonly Omit<Mutation, "test">[] = [
  {
    name: "a kept value never expires",
    find: "if not expiresAt or tonumber(expiresAt) <= now then return false end",
    replace: "if not expiresAt then return false end",
  },
  {
    name: "a kept value expires late",
    find: "if not expiresAt or tonumber(expiresAt) <= now then return false end",
    replace: "if not expiresAt or tonumber(expiresAt) < now then return false end",
  },
  {
    name: "values of an account have no bound",
    find: "while total + size > maxBytes do",
    replace: "while false do",
  },
  { name: "a value that is too large is kept", find: "if size > maxBytes then return 0 end\n", replace: "" },
  {
    name: "values that go count on",
    find: "  if bytes > 0 then call('HINCRBY', valuesKey, ':bytes', -sizeOf(bytes)) end\n",
    replace: "",
  },
  {
    name: "values that have expired stay",
    find: "'LIMIT', 0, 64)) do remove(old) end",
    replace: "'LIMIT', 0, 64)) do end",
  },
  {
    name: "a value that is put again counts twice",
    find: "\nremove(key)\n",
    replace: "\n",
  },
  {
    name: "what is left of a half that was evicted stays",
    find: "if call('EXISTS', valuesKey) ~= call('EXISTS', expiryKey) then call('UNLINK', valuesKey, expiryKey) end\n",
    replace: "",
  },
  {
    name: "kept values that nobody asks for stay",
    find: "  if call('PTTL', name) < ttlMs then call('PEXPIRE', name, ttlMs) end\n",
    replace: "",
  },
  {
    name: "a short value ends the long ones",
    find: "if call('PTTL', name) < ttlMs then call(",
    replace: "if true then call(",
  },
  {
    name: "accounts share their kept values",
    find: "(accountId)}}:cache`;",
    replace: "(accountId).slice(22)}}:cache`;",
  },
];

export const responseCacheMutations: readonly Mutation[] = lines.map((line) => ({
  ...line,
  test: ["redis-response-cache", "redis-stores"],
}));
