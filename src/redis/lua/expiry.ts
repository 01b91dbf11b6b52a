/** So many holds end in one script at the most. */
export const mostEnded = 500;

/**
 * Ends the holds whose lease is over, charging the cost that their last renewals saw.
 *
 * Any number can be due at once, and a script keeps all other clients waiting. So one script ends some of them and, where
 * more are left, does nothing else on their account: its caller then sends the account's operations again.
 */
export const expiry = `
-- Of all accounts together.
local budget = ${mostEnded}

local function expireDue()
  local expiredMemoryMs = 3600000
  if budget == 0 then return true end
  local due = call('ZRANGEBYSCORE', leasesKey, '-inf', now, 'LIMIT', 0, budget)
  local packed, packedParts = readFields(due)
  local records, times = {}, {}
  for index, id in ipairs(due) do
    local hold, part = unpackHold(packed[index], packedParts[index])
    if hold then
      local _, share = endHold(hold, part, hold.held, hold.checkpoint)
      if part then
        useLimits().endTakes(part, part.uses, 'expiry')
        records[#records + 1], records[#records + 2] = partField(id), packPart(part)
      end
      if hold.checkpoint > 0 then
        journalCharge(id, 'checkpoint', hold, hold.checkpoint, share, call('HGET', holdsKey, tagsField(id)))
      end
      hold.held, hold.isExpired = 0, true
      records[#records + 1], records[#records + 2] = id, packLease(hold)
      times[#times + 1], times[#times + 2] = now, id
    end
  end
  write('ZREM', leasesKey, unpack(due))

  local old = call('ZRANGEBYSCORE', expiredKey, '-inf', now - expiredMemoryMs, 'LIMIT', 0, 1000)
  if #old > 0 then
    write('HDEL', holdsKey, unpack(old))
    write('HDEL', holdsKey, unpack(partFields(old)))
    write('HDEL', holdsKey, unpack(fieldsOf(old, tagsField)))
    write('ZREM', expiredKey, unpack(old))
    account.forgottenUntil = math.max(account.forgottenUntil, now - expiredMemoryMs)
  end
  if #records > 0 then
    write('HSET', holdsKey, unpack(records))
    write('ZADD', expiredKey, unpack(times))
  end
  if limits then limits.keep() end

  local first = call('ZRANGE', leasesKey, 0, 0, 'WITHSCORES')
  account.nextExpiry = tonumber(first[2] or maxInteger)
  keepAccount(true)
  local isCut = #due == budget
  budget = budget - #due
  return isCut
end

-- Answers whether more is due than may end now: the account must wait for another script.
local function expire()
  if now >= account.nextExpiry then
    -- Most often the lease that was to end then has been settled.
    local first = call('ZRANGE', leasesKey, 0, 0, 'WITHSCORES')
    account.nextExpiry = tonumber(first[2] or maxInteger)
  end
  return now >= account.nextExpiry and expireDue()
end
`;
