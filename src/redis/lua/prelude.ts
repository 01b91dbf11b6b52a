/**
 * What every script of the ledger begins with. Its arguments are a JSON array, which costs both sides half of what as many
 * arguments do; the array ends with those of the journal.
 */
export const prelude = `
local accountKey, holdsKey, leasesKey, expiredKey, journalKey, ownKey = unpack(KEYS)

local arguments = cjson.decode(ARGV[1])
local journalEntries, journalRetentionMs = arguments[#arguments - 1], arguments[#arguments]

local maxInteger = 9007199254740991
local dayMs = 86400000
local windowNames = { 'session', 'week', 'month' }

-- A local is found faster than a member of a global, and this one is asked for at every step.
local call = redis.call
`;
