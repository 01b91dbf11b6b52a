// A key is a hash under its digest. A string under its id and a sorted set under its account lead to it. All keys are in
// one slot of a cluster, so that each change is one step: they are few and small next to what is read of them in memory.

export const findKeyByHash = "return redis.call('HGETALL', KEYS[1])";

export const hashOfKey = "return redis.call('GET', KEYS[1])";

export const hashesOfAccount = "return redis.call('ZRANGE', KEYS[1], 0, -1)";

/** The keys under all the names given. */
export const findKeys = `
local found = {}
for index, name in ipairs(KEYS) do found[index] = redis.call('HGETALL', name) end
return found
`;

export const insertKey = `
local key, id, account = KEYS[1], KEYS[2], KEYS[3]
local hash, createdAt, channel = ARGV[1], ARGV[2], ARGV[3]
if redis.call('EXISTS', key) == 1 or redis.call('EXISTS', id) == 1 then return 0 end
redis.call('HSET', key, unpack(ARGV, 4))
redis.call('SET', id, hash)
redis.call('ZADD', account, createdAt, hash)
redis.call('PUBLISH', channel, 'key ' .. hash)
return 1
`;

/**
 * Sets the first fields, by name and value, and deletes the others, by name. A revocation is never put off. A key that moves
 * comes with the names of its account's set and of the new one's, and with its account at the end. It is left as it is if it
 * is not of that account any more.
 */
export const updateKey = `
local key, from, to = KEYS[1], KEYS[2], KEYS[3]
local hash, channel, lastSet, last = ARGV[1], ARGV[2], 3 + ARGV[3], #ARGV
if redis.call('EXISTS', key) == 0 then return {} end
if to then
  if redis.call('HGET', key, 'account') ~= ARGV[last] then return false end
  last = last - 1
  redis.call('ZADD', to, redis.call('HGET', key, 'createdAt'), hash)
  if from ~= to then redis.call('ZREM', from, hash) end
end
local revokedAt = redis.call('HGET', key, 'revokedAt')
for index = 4, lastSet, 2 do
  local name, value = ARGV[index], ARGV[index + 1]
  local isPutOff = name == 'revokedAt' and revokedAt and tonumber(value) > tonumber(revokedAt)
  if not isPutOff then redis.call('HSET', key, name, value) end
end
if lastSet < last then redis.call('HDEL', key, unpack(ARGV, lastSet + 1, last)) end
redis.call('PUBLISH', channel, 'key ' .. hash)
return redis.call('HGETALL', key)
`;

/** The digests of the keys under all the ids given; false where there is none. */
export const hashesOfKeys = "return redis.call('MGET', unpack(KEYS))";

/** Moves `lastUsedAt` of each key on, never back. No notice: to those who know the key it is no change. */
export const touchKeys = `
for index, key in ipairs(KEYS) do
  local lastUsedAt = redis.call('HGET', key, 'lastUsedAt')
  local isLater = not lastUsedAt or tonumber(ARGV[index]) > tonumber(lastUsedAt)
  if isLater and redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'lastUsedAt', ARGV[index]) end
end
return 1
`;

/**
 * Deletes keys of one account, but those that have moved to another. KEYS: the account's, then each key's and its id's; ARGV:
 * the channel and the account, then the digests. @returns the digests of the deleted ones.
 */
export const forgetKeys = `
local account, channel, id = KEYS[1], ARGV[1], ARGV[2]
local forgotten = {}
for index = 3, #ARGV do
  local hash, key = ARGV[index], KEYS[2 * index - 4]
  if redis.call('HGET', key, 'account') == id then
    redis.call('DEL', key, KEYS[2 * index - 3])
    redis.call('PUBLISH', channel, 'key ' .. hash)
    forgotten[#forgotten + 1] = hash
  end
  redis.call('ZREM', account, hash)
end
return forgotten
`;
