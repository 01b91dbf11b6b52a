/** What every script of the ledger begins with: its keys, and the arguments that all of them take. */
export const prelude = `
local accountKey, holdsKey, leasesKey, expiredKey, journalKey, ownKey = unpack(KEYS)
local journalEntries, journalRetentionMs, numbers = ARGV[1], ARGV[2], ARGV[3]

local maxInteger = 9007199254740991
local dayMs = 86400000
local windowNames = { 'session', 'week', 'month' }

-- A local is found faster than a member of a global, and this one is asked for at every step.
local call = redis.call
`;
