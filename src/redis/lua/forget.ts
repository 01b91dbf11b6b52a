/**
 * Deletes an account, its open holds and its journal. Holds that have expired are remembered without it: what they were
 * charged is known, so a settlement that still comes is not charged in full.
 */
export const forget = `
local mostPerCall = 1000

local held = redis.call('ZRANGE', leasesKey, 0, -1)
for first = 1, #held, mostPerCall do
  redis.call('HDEL', holdsKey, unpack(held, first, math.min(first + mostPerCall - 1, #held)))
end
redis.call('DEL', accountKey, leasesKey, journalKey)
return { 'done' }
`;
