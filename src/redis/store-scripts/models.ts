// All models are fields of one hash, by their ids: JSON.

/** Some of them. There may be thousands, which no other client must wait for. */
export const scanModels = "return redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])";

export const findModel = "return redis.call('HGET', KEYS[1], ARGV[1])";

export const putModel = `
local id, channel, text, most, rule, expected = unpack(ARGV)
local earlier = redis.call('HGET', KEYS[1], id)
if rule == 'none' and earlier or rule == 'known' and earlier ~= expected then return 'unexpected' end
if not earlier and redis.call('HLEN', KEYS[1]) >= tonumber(most) then return 'full' end
redis.call('HSET', KEYS[1], id, text)
redis.call('PUBLISH', channel, 'model ' .. id)
return 'put'
`;

export const removeModel = `
local id, channel, expected = unpack(ARGV)
if expected and redis.call('HGET', KEYS[1], id) ~= expected then return 0 end
if redis.call('HDEL', KEYS[1], id) == 0 then return 0 end
redis.call('PUBLISH', channel, 'model ' .. id)
return 1
`;
