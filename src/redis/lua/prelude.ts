/** What every script of the ledger begins with: its keys, its arguments one after the other, and the limits of its work. */
export const prelude = `
local accountKey, holdsKey, leasesKey, expiredKey, journalKey, ownKey = unpack(KEYS)

local maxInteger = 9007199254740991
local dayMs = 86400000
local windowNames = { 'session', 'week', 'month' }

local argument = 0
local function nextText()
  argument = argument + 1
  return ARGV[argument]
end
local function nextNumber()
  return tonumber(nextText())
end
`;
