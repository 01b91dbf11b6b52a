import { goneAtOnce } from "../../books/audit/audit-limits.js";
import { clock } from "../lua/clock.js";
import { makeScript } from "../script.js";

// All keys are in one slot of a cluster:
// - a sorted set of the entries' places, all of one score, so that they are in the order of their bytes;
// - a hash of the entries by their places, as JSON;
// - for each of account, key, author and action, a sorted set of `value, NUL, place`, as the first one. The accounts have
//   that of a key's move twice.

/** Keeps an entry, unless its place is taken, and drops some of what is too old or too much. */
const append = `
local call = redis.call
local orderKey, entriesKey = KEYS[1], KEYS[2]
local place, json, keepMs, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
`;

const appendEntry = `
if call('HSETNX', entriesKey, place, json) == 0 then return 0 end
call('ZADD', orderKey, 0, place)
for index = 3, #KEYS do
  local value = ARGV[index + 2]
  if value ~= '' then call('ZADD', KEYS[index], 0, value .. '\\0' .. place) end
end
local movedTo = ARGV[#KEYS + 3]
if movedTo ~= '' then call('ZADD', KEYS[3], 0, movedTo .. '\\0' .. place) end

local function drop(gone)
  local entry = cjson.decode(call('HGET', entriesKey, gone) or '{}')
  local values = { entry.account, entry.key, entry.by, entry.action }
  for index = 3, #KEYS do
    local value = values[index - 2]
    if value then call('ZREM', KEYS[index], value .. '\\0' .. gone) end
  end
  if entry.movedTo then call('ZREM', KEYS[3], entry.movedTo .. '\\0' .. gone) end
  call('HDEL', entriesKey, gone)
  call('ZREM', orderKey, gone)
end

local count = call('ZCARD', orderKey)
for _, oldest in ipairs(call('ZRANGE', orderKey, 0, ${goneAtOnce - 1})) do
  local isTooOld = tonumber(string.sub(oldest, 1, 16)) < now - keepMs
  if count <= most and not isTooOld then break end
  drop(oldest)
  count = count - 1
end
return 1
`;

/** So many entries from a place down, of one index. Gives the last place that was read, and the entries. */
const list = `
local call = redis.call
local indexKey, entriesKey = KEYS[1], KEYS[2]
local begin, from, below, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local found = call('ZREVRANGEBYLEX', indexKey, '(' .. begin .. below, '[' .. begin .. from, 'LIMIT', 0, limit)
local reply = { #found == limit and string.sub(found[#found], #begin + 1) or '' }
for _, member in ipairs(found) do
  local entry = call('HGET', entriesKey, string.sub(member, #begin + 1))
  if entry then reply[#reply + 1] = entry end
end
return reply
`;

export const auditScripts = { append: makeScript(append, clock, appendEntry), list: makeScript(list) };
