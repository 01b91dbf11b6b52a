/** Extends leases of one account, and records what they have cost so far. */
export const renew = `
local isChanged, isExtended = false, false

-- Times do not go back, though the clock may.
local function postpone(key, id, time)
  write('ZADD', key, math.max(tonumber(call('ZSCORE', key, id)), time), id)
end

-- A hold of nothing stays one: it may have been admitted to no session.
local function raise(hold, observed)
  local rise = observed - hold.held
  local most = math.max(account.session.held, account.week.held, account.month.held)
  if hold.held == 0 or rise <= 0 or most + rise > maxInteger then return end
  hold.held = observed
  for _, name in ipairs(windowNames) do
    if account[name].start == hold[name].start then account[name].held = account[name].held + rise end
  end
end

local function renewHold(id, hold, observed, leaseMs)
  hold.checkpoint = math.max(hold.checkpoint, observed)
  raise(hold, observed)
  write('HSET', holdsKey, id, packLease(hold))
  postpone(leasesKey, id, now + leaseMs)
  isChanged, isExtended = true, true
end

local function renewExpired(id, hold, observed)
  local rise = observed - hold.checkpoint
  if rise > 0 then
    isExtended = addCharge(hold, 0, rise) or isExtended
    isChanged = true
    journal(id, 'checkpoint', rise, hold)
    hold.checkpoint = observed
    write('HSET', holdsKey, id, packLease(hold))
  end
  -- It is remembered for as long as it gives signs of life.
  postpone(expiredKey, id, now)
end

loadAccount()
if expire() then
  writeAccount()
  return { 'again' }
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
if isChanged then keepAccount(isExtended) end
writeAccount()
return reply
`;
