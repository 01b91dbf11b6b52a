// Two keys of each account, which live as long as the value of theirs that is to live longest:
// - a hash of the values by their keys, and under `:bytes` what they take together;
// - a sorted set of the keys by the moments at which their values expire.

/** What each script begins with. It is followed by what defines `now`. */
export const cachePrelude = `
local valuesKey, expiryKey = unpack(KEYS)
local call = redis.call
`;

export const getCached = `
local key = ARGV[1]
local expiresAt = call('ZSCORE', expiryKey, key)
if not expiresAt or tonumber(expiresAt) <= now then return false end
return call('HGET', valuesKey, key)
`;

export const putCached = `
local key, ttlMs, maxBytes, entryBytes, value = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local function sizeOf(bytes)
  return bytes + entryBytes
end

local function remove(old)
  local bytes = call('HSTRLEN', valuesKey, old)
  if bytes > 0 then call('HINCRBY', valuesKey, ':bytes', -sizeOf(bytes)) end
  call('HDEL', valuesKey, old)
  call('ZREM', expiryKey, old)
end

-- A server that evicts keys may have dropped one of the two: then what is in the other is lost, too.
if call('EXISTS', valuesKey) ~= call('EXISTS', expiryKey) then call('UNLINK', valuesKey, expiryKey) end

-- A few at a time, so that no other client is kept waiting.
for _, old in ipairs(call('ZRANGEBYSCORE', expiryKey, '-inf', now, 'LIMIT', 0, 64)) do remove(old) end
remove(key)
local size = sizeOf(#value)
if size > maxBytes then return 0 end
local total = tonumber(call('HGET', valuesKey, ':bytes') or 0)
while total + size > maxBytes do
  remove(call('ZRANGE', expiryKey, 0, 0)[1])
  total = tonumber(call('HGET', valuesKey, ':bytes'))
end
call('HSET', valuesKey, key, value)
call('HINCRBY', valuesKey, ':bytes', size)
call('ZADD', expiryKey, now + ttlMs, key)
for _, name in ipairs(KEYS) do
  if call('PTTL', name) < ttlMs then call('PEXPIRE', name, ttlMs) end
end
return 1
`;

export const forgetCached = "return redis.call('UNLINK', unpack(KEYS))";
