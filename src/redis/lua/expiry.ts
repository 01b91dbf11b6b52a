/**
 * Ends the holds whose lease is over, charging the cost that their last renewals saw.
 *
 * Any number can be due at once, and a script keeps all other clients waiting. So one script ends some of them and, where
 * more are left, does nothing else: its caller then sends it again.
 */
export const expiry = `
local expiredMemoryMs = 3600000

-- Answers whether more are left.
local function endExpiredHolds(account, now)
  if now < account.nextExpiry then return false end

  local mostPerScript = 500
  local due = call('ZRANGEBYSCORE', leasesKey, '-inf', now, 'LIMIT', 0, mostPerScript)
  if #due > 0 then
    local packed = call('HMGET', holdsKey, unpack(due))
    local records, times = {}, {}
    for index, id in ipairs(due) do
      local hold = readLease(packed[index])
      if hold then
        addCharge(account, hold, hold.held, hold.checkpoint, now)
        if hold.checkpoint > 0 then journal(account, now, id, 'checkpoint', hold.checkpoint, hold) end
        hold.held, hold.isExpired = 0, true
        records[#records + 1], records[#records + 2] = id, packLease(hold)
        times[#times + 1], times[#times + 2] = now, id
      end
    end
    call('ZREM', leasesKey, unpack(due))

    local old = call('ZRANGEBYSCORE', expiredKey, '-inf', now - expiredMemoryMs, 'LIMIT', 0, 2 * mostPerScript)
    if #old > 0 then
      call('HDEL', holdsKey, unpack(old))
      call('ZREM', expiredKey, unpack(old))
      account.forgottenUntil = math.max(account.forgottenUntil, now - expiredMemoryMs)
    end
    if #records > 0 then
      call('HSET', holdsKey, unpack(records))
      call('ZADD', expiredKey, unpack(times))
    end
    account.isChanged, account.isExtended = true, true
  end

  local first = call('ZRANGE', leasesKey, 0, 0, 'WITHSCORES')
  account.nextExpiry = tonumber(first[2] or maxInteger)
  if account.isChanged then saveAccount(account, now) end
  return #due == mostPerScript
end
`;
