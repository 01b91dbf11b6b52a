/**
 * The beginning of every script of the ledger. The arguments are one JSON array: many arguments would cost the client
 * and the server more. It begins with the number of entries that a journal keeps, and for how long.
 */
export const prelude = `
local accountKey, holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey = unpack(KEYS, 1, 8)
local ownKey
local arguments = cjson.decode(ARGV[1])

local maxInteger = 9007199254740991
local dayMs = 86400000
local windowNames = { 'session', 'week', 'month' }

-- A local is found faster than a member of a global, and this one is asked for at every step.
local call = redis.call

-- Every command that writes goes through this. Whether one did decides what becomes of an operation that then fails.
local hasWritten = false
local function write(...)
  local reply = call(...)
  hasWritten = true
  return reply
end
`;
