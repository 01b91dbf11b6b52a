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

/** Now by the server's clock, in epoch milliseconds. */
export const clock = `
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * The format of so many numbers for Lua's struct.pack and struct.unpack: as 64-bit floats, which are exact for all integers
 * here. Text would take several times as long to read, and Lua's tostring loses digits from the fifteenth on.
 */
export function doubles(count: number): string {
  return `'<${"d".repeat(count)}'`;
}

// Redis has scripts send what a client of its own would need another connection for.

export const announce = "for i = 2, #ARGV do redis.call('PUBLISH', ARGV[1], ARGV[i]) end";
