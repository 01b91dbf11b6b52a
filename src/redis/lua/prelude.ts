/**
 * The beginning of every script of the ledger. The arguments are one JSON array: many arguments would cost the client
 * and the server more. There are few functions for the same reason: each script makes its own again whenever it runs.
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
