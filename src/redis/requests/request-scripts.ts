import { makeScript } from "../script.js";

// A line is an entry of the hash `lines` under its place, `moment:id`, which sorts by its bytes: JSON of what leads to it, and
// the line. One sorted set, all of one score, has the places of lines below each label that leads to them, `o:` of all; and
// below `c:` what is counted, with its numbers in the hash `counts`. All keys are in one slot of a cluster.

const begin = `
local index, lines, texts, counts = unpack(KEYS)
local call = redis.call
local function remove(place)
  local entry = call('HGET', lines, place)
  if entry then call('ZREM', index, unpack(cjson.decode(entry)[1])) end
  call('HDEL', lines, place)
  call('HDEL', texts, place)
end
local function removeCount(member)
  call('ZREM', index, member)
  call('HDEL', counts, 'r' .. member, 'f' .. member)
end
`;

/** ARGV: how many lines are kept, the oldest place, the oldest minute, how many go at most, then seven for each line and its labels. */
const write = `
local maxRows, most = tonumber(ARGV[1]), tonumber(ARGV[4])
local at = 5
while at <= #ARGV do
  local place, entry, text, counted, refusals, failures = unpack(ARGV, at, at + 5)
  local labels = tonumber(ARGV[at + 6])
  if call('HSETNX', lines, place, entry) == 1 then
    for label = at + 7, at + 6 + labels do call('ZADD', index, 0, ARGV[label]) end
    if text ~= '' then call('HSET', texts, place, text) end
    if counted ~= '' then
      call('ZADD', index, 0, counted)
      call('HINCRBY', counts, 'r' .. counted, refusals)
      call('HINCRBY', counts, 'f' .. counted, failures)
    end
  end
  at = at + 7 + labels
end

local function trim(first, last, oldest, drop)
  local excess = call('ZLEXCOUNT', index, '[' .. first, '(' .. last) - maxRows
  for turn, member in ipairs(call('ZRANGEBYLEX', index, '[' .. first, '(' .. last, 'LIMIT', 0, most)) do
    if turn > excess and member >= first .. oldest then break end
    drop(member)
  end
end
trim('o:', 'o;', ARGV[2], function(member) remove(string.sub(member, 3)) end)
trim('c:', 'c;', ARGV[3], removeCount)
return 1
`;

const read = `
local found = {}
for turn, member in ipairs(call('ZREVRANGEBYLEX', index, '(' .. ARGV[2], '[' .. ARGV[1], 'LIMIT', 0, ARGV[3])) do
  found[turn] = call('HGET', lines, string.sub(member, ARGV[4] + 1)) or ''
end
return found
`;

const get = `
local newest = call('ZREVRANGEBYLEX', index, '(' .. ARGV[2], '[' .. ARGV[1], 'LIMIT', 0, 1)[1]
if not newest then return {} end
local place = string.sub(newest, ARGV[3] + 1)
return { call('HGET', lines, place), call('HGET', texts, place) or '' }
`;

const readCounts = `
local found = {}
for _, member in ipairs(call('ZRANGEBYLEX', index, ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
  found[#found + 1] = member
  found[#found + 1] = call('HGET', counts, 'r' .. member) or '0'
  found[#found + 1] = call('HGET', counts, 'f' .. member) or '0'
end
return found
`;

const forget = `
local members = call('ZRANGEBYLEX', index, '[' .. ARGV[1], '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(members) do remove(string.sub(member, ARGV[4] + 1)) end
return #members
`;

const forgetCounts = "for _, member in ipairs(ARGV) do removeCount(member) end return 1";

export const requestScripts = {
  write: makeScript(begin, write),
  read: makeScript(begin, read),
  get: makeScript(begin, get),
  readCounts: makeScript(begin, readCounts),
  forget: makeScript(begin, forget),
  forgetCounts: makeScript(begin, forgetCounts),
};
