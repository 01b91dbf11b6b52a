/**
 * What every script of the ledger begins with. Its arguments are one JSON array: as many of their own would cost the client
 * and the server more. For the same reason there are few functions: each script makes its own anew whenever it runs.
 */
export const prelude = `
local accountKey, holdsKey, leasesKey, expiredKey, journalKey, ownKey = unpack(KEYS)
local arguments = cjson.decode(ARGV[1])

local maxInteger = 9007199254740991
local dayMs = 86400000
local windowNames = { 'session', 'week', 'month' }

-- A local is found faster than a member of a global, and this one is asked for at every step.
local call = redis.call
`;
