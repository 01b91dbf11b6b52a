// All plans are fields of one hash, by their ids.

export const findPlan = "return redis.call('HGET', KEYS[1], ARGV[1])";

export const listPlans = "return redis.call('HVALS', KEYS[1])";

export const deletePlan = `
local deleted = redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('PUBLISH', ARGV[2], 'plan ' .. ARGV[1])
return deleted
`;

export const putPlan = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PUBLISH', ARGV[3], 'plan ' .. ARGV[1])
return 1
`;
