// An account is a hash of its members as JSON. A sorted set has all ids, in the order of their bytes. All keys are in one
// slot of a cluster, so that each change is one step.

/** Replaces all members. Without a status of its own, the account keeps the status and the message that are there. */
export const putAccount = `
local account, ids = KEYS[1], KEYS[2]
local id, channel, keepsStatus = ARGV[1], ARGV[2], ARGV[3] == '1'
local kept = keepsStatus and redis.call('HMGET', account, 'status', 'message') or { false, false }
redis.call('DEL', account)
redis.call('HSET', account, unpack(ARGV, 4))
if kept[1] then redis.call('HSET', account, 'status', kept[1]) end
if kept[2] then redis.call('HSET', account, 'message', kept[2]) end
redis.call('ZADD', ids, 0, id)
redis.call('PUBLISH', channel, 'account_record ' .. id)
return 1
`;

/** Replaces all members if those that are there are exactly the first ones, by name and value. None: if there is no account. */
export const replaceAccount = `
local account, ids = KEYS[1], KEYS[2]
local id, channel, lastExpected = ARGV[1], ARGV[2], 3 + ARGV[3]
if 2 * redis.call('HLEN', account) ~= lastExpected - 3 then return 0 end
for index = 4, lastExpected, 2 do
  if redis.call('HGET', account, ARGV[index]) ~= ARGV[index + 1] then return 0 end
end
redis.call('DEL', account)
redis.call('HSET', account, unpack(ARGV, lastExpected + 1))
redis.call('ZADD', ids, 0, id)
redis.call('PUBLISH', channel, 'account_record ' .. id)
return 1
`;

export const listAccounts = "return redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '+', 'LIMIT', 0, ARGV[2])";

/** Sets the first members, by name and value, and deletes the others, by name. */
export const updateAccount = `
local account, id, channel, lastSet = KEYS[1], ARGV[1], ARGV[2], 3 + ARGV[3]
if redis.call('EXISTS', account) == 0 then return {} end
if lastSet > 3 then redis.call('HSET', account, unpack(ARGV, 4, lastSet)) end
if lastSet < #ARGV then redis.call('HDEL', account, unpack(ARGV, lastSet + 1)) end
redis.call('PUBLISH', channel, 'account_record ' .. id)
return redis.call('HGETALL', account)
`;

export const forgetAccount = `
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('PUBLISH', ARGV[2], 'account_record ' .. ARGV[1])
return 1
`;
