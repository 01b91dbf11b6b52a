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

/** Sets the first fields, by name and value, and deletes the others, by name. A revocation is never put off. */
export const updateKey = `
local key, hash, channel, lastSet = KEYS[1], ARGV[1], ARGV[2], 3 + ARGV[3]
if redis.call('EXISTS', key) == 0 then return {} end
local revokedAt = redis.call('HGET', key, 'revokedAt')
for index = 4, lastSet, 2 do
  local name, value = ARGV[index], ARGV[index + 1]
  local isPutOff = name == 'revokedAt' and revokedAt and tonumber(value) > tonumber(revokedAt)
  if not isPutOff then redis.call('HSET', key, name, value) end
end
if lastSet < #ARGV then redis.call('HDEL', key, unpack(ARGV, lastSet + 1)) end
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

/** Deletes keys of one account. KEYS: the account's, then each key's and its id's; ARGV: the channel, then the digests. */
export const forgetKeys = `
redis.call('DEL', unpack(KEYS, 2))
redis.call('ZREM', KEYS[1], unpack(ARGV, 2))
for index = 2, #ARGV do redis.call('PUBLISH', ARGV[1], 'key ' .. ARGV[index]) end
return 1
`;
