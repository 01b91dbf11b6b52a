/** Extends leases of one account, and records what they have cost so far. */
export const renew = `
-- Times do not go back, though the clock may.
local function postpone(key, id, time)
  call('ZADD', key, math.max(tonumber(call('ZSCORE', key, id)), time), id)
end

local function renewHold(id, hold, observed, leaseMs)
  hold.checkpoint = math.max(hold.checkpoint, observed)
  local rise = observed - hold.held
  -- A hold of nothing stays one: it may have been admitted to no session.
  if rise > 0 and hold.held > 0 and canHold(account, rise) then
    hold.held = observed
    addHold(account, hold, rise)
  end
  call('HSET', holdsKey, id, packLease(hold))
  postpone(leasesKey, id, now + leaseMs)
  account.isChanged, account.isExtended = true, true
end

local function renewExpired(id, hold, observed)
  local rise = observed - hold.checkpoint
  if rise > 0 then
    addCharge(account, hold, 0, rise, now)
    journal(account, now, id, 'checkpoint', rise, hold)
    hold.checkpoint = observed
    account.isChanged = true
    call('HSET', holdsKey, id, packLease(hold))
  end
  -- It is remembered for as long as it gives signs of life.
  postpone(expiredKey, id, now)
end

local reply = { 'done' }
for index, renewal in ipairs(arguments[3]) do
  local id, amount, observed, leaseMs = unpack(renewal)
  local hold = readLease(call('HGET', holdsKey, id))
  if not hold then
    reply[index + 1] = 'closed'
  elseif hold.amount ~= amount then
    reply[index + 1] = 'conflict'
  elseif hold.isExpired then
    renewExpired(id, hold, observed)
    reply[index + 1] = 'expired'
  else
    renewHold(id, hold, observed, leaseMs)
    reply[index + 1] = 'renewed'
  end
end
return reply
`;
