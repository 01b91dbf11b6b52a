/** Extends leases of one account, and records what they have cost so far. */
export const renew = `
local isChanged, isExtended = false, false

-- Times do not go back, though the clock may.
local function postpone(key, id, time)
  write('ZADD', key, math.max(tonumber(call('ZSCORE', key, id)), time), id)
end

-- A hold of nothing stays one: it may have been admitted to no session.
local function raise(hold, part, observed)
  local rise = observed - hold.held
  local most = math.max(account.session.held, account.week.held, account.month.held)
  if hold.held == 0 or rise <= 0 or most + rise > maxInteger then return end
  hold.held = observed
  if part then useLimits().raise(part, rise) end
  if part and part.prepaid > 0 then return end
  for _, name in ipairs(windowNames) do
    if account[name].start == hold[name].start then account[name].held = account[name].held + rise end
  end
end

local function keepTags(id, tags)
  if tags then write('HSET', holdsKey, tagsField(id), tags) end
end

local function renewHold(id, hold, part, observed, leaseMs, uses)
  hold.checkpoint = math.max(hold.checkpoint, observed)
  raise(hold, part, observed)
  write('HSET', holdsKey, id, packLease(hold))
  if part then
    part.uses = uses or part.uses
    write('HSET', holdsKey, partField(id), packPart(part))
    useLimits().keep()
    useLimits().prolong(part)
  end
  postpone(leasesKey, id, now + leaseMs)
  isChanged, isExtended = true, true
end

local function renewExpired(id, hold, part, observed, tags)
  local rise = observed - hold.checkpoint
  if rise > 0 then
    local hasLaterEnd, share = endHold(hold, part, 0, rise)
    if limits then limits.keep() end
    isChanged, isExtended = true, isExtended or hasLaterEnd
    journalCharge(id, 'checkpoint', hold, rise, share, tags or call('HGET', holdsKey, tagsField(id)))
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
if packedPrepaid then useLimits().lapse() end

local reply = { 'done' }
for index, renewal in ipairs(arguments[3]) do
  local id, amount, observed, leaseMs, uses, tags = unpack(renewal)
  local hold, part = readHold(id)
  if not hold then
    reply[index + 1] = 'closed'
  elseif hold.amount ~= amount then
    reply[index + 1] = 'conflict'
  elseif hold.isExpired then
    renewExpired(id, hold, part, observed, tags)
    keepTags(id, tags)
    reply[index + 1] = 'expired'
  else
    renewHold(id, hold, part, observed, leaseMs, uses)
    keepTags(id, tags)
    reply[index + 1] = 'renewed'
  end
end
if isChanged then keepAccount(isExtended) end
writeAccount()
return reply
`;
