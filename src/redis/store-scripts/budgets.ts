// The budgets of an account are fields of one hash. A sorted set has the fields in the order of their bytes. Both keys are in
// one slot of a cluster, so that each change is one step.

/** The budgets of all the fields given; false where there is none. */
export const readBudgets = "return redis.call('HMGET', KEYS[1], unpack(ARGV))";

export const putBudget = `
local account, channel, field, budget = unpack(ARGV)
redis.call('HSET', KEYS[1], field, budget)
redis.call('ZADD', KEYS[2], 0, field)
redis.call('PUBLISH', channel, 'budget ' .. account)
return 1
`;

export const removeBudget = `
local account, channel, field = unpack(ARGV)
if redis.call('HDEL', KEYS[1], field) == 0 then return 0 end
redis.call('ZREM', KEYS[2], field)
redis.call('PUBLISH', channel, 'budget ' .. account)
return 1
`;

export const listBudgets = `
local fields = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
return #fields == 0 and {} or redis.call('HMGET', KEYS[1], unpack(fields))
`;

/** Without waiting for the memory of what may be hundreds of thousands. */
export const forgetBudgets = `
local account, channel = unpack(ARGV)
if redis.call('UNLINK', unpack(KEYS)) > 0 then redis.call('PUBLISH', channel, 'budget ' .. account) end
return 1
`;
