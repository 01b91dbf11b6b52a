/**
 * The prepaid credits of an account, in one string: what open calls hold, what is overdrawn, and of each lot when it
 * expires and what is left. It has no time to live: what was sold must not end with the account's windows. Once there was
 * one it stays, though nothing is left: whether an account has ever had prepaid credits is shown.
 */
export const prepaid = `
local mostLots = 100
local prepaid
local isPrepaidChanged

local function getPrepaid()
  if prepaid then return prepaid end
  prepaid = { held = 0, overdrawn = 0, lots = {} }
  if packedPrepaid then
    local count = #packedPrepaid / 8
    local numbers = { struct.unpack('<' .. string.rep('d', count), packedPrepaid) }
    prepaid.held, prepaid.overdrawn = numbers[1], numbers[2]
    for index = 3, count, 2 do
      prepaid.lots[#prepaid.lots + 1] = { expiresAt = numbers[index], left = numbers[index + 1] }
    end
  end
  return prepaid
end

local function writePrepaid()
  isPrepaidChanged = false
  local parts = { struct.pack('<dd', prepaid.held, prepaid.overdrawn) }
  for _, lot in ipairs(prepaid.lots) do parts[#parts + 1] = struct.pack('<dd', lot.expiresAt, lot.left) end
  packedPrepaid = table.concat(parts)
  write('SET', prepaidKey, packedPrepaid)
end

-- What was left at that moment of the lots that had not expired, less what is overdrawn.
local function balanceAt(moment)
  local balance = 0 - getPrepaid().overdrawn
  for _, lot in ipairs(prepaid.lots) do
    if moment < lot.expiresAt then balance = balance + lot.left end
  end
  return balance
end

-- What they add to what the plan has left, and what is held of it. A debt takes nothing from the plan.
local function funds()
  return math.max(0, balanceAt(now)), prepaid.held
end

-- Answers whether there is room for it.
local function addToLot(amount, expiresAt)
  local lots = prepaid.lots
  local place = 1
  while lots[place] and lots[place].expiresAt < expiresAt do place = place + 1 end
  local lot = lots[place]
  if lot and lot.expiresAt == expiresAt then
    lot.left = lot.left + amount
    return true
  end
  if #lots >= mostLots then return false end
  table.insert(lots, place, { expiresAt = expiresAt, left = amount })
  return true
end

-- Pays what is overdrawn first. Answers whether there is room for the rest.
local function pay(amount, expiresAt)
  local paid = math.min(getPrepaid().overdrawn, amount)
  if amount > paid and not addToLot(amount - paid, expiresAt) then return false end
  prepaid.overdrawn = prepaid.overdrawn - paid
  isPrepaidChanged = true
  return true
end

local function holdPrepaid(amount)
  getPrepaid().held = getPrepaid().held + amount
  isPrepaidChanged = true
end

local function removeLots(isOver)
  local kept = {}
  for _, lot in ipairs(prepaid.lots) do
    if not isOver(lot) then kept[#kept + 1] = lot end
  end
  prepaid.lots = kept
end

-- Charges a call that was admitted then: it can use lots that have expired since. A negative charge gives back.
local function chargePrepaid(charge, admittedAt)
  local first = getPrepaid().lots[1]
  if charge < 0 then
    pay(-charge, first and first.expiresAt or maxInteger)
    return
  end
  isPrepaidChanged = true
  local due = charge
  for _, lot in ipairs(prepaid.lots) do
    if lot.expiresAt > admittedAt then
      local taken = math.min(lot.left, due)
      lot.left, due = lot.left - taken, due - taken
    end
  end
  removeLots(function(lot) return lot.left == 0 end)
  prepaid.overdrawn = math.min(prepaid.overdrawn + due, maxInteger)
end

-- A call can use what ended after its admission. One that found no prepaid credits only ever uses what has not expired.
local function mayNeed(part, finish)
  return part and part.prepaidAt and part.prepaidAt < finish
end

-- Looks at all open leases: the earliest admission of those that found prepaid credits, and of those that may need what
-- ended then the last one by its id.
local function findNeeding(finish)
  local mostPerRead = 1000
  local earliest, last = math.huge, nil
  local ids = call('ZRANGE', leasesKey, 0, -1)
  for first = 1, #ids, mostPerRead do
    local page = { unpack(ids, first, math.min(first + mostPerRead - 1, #ids)) }
    for index, packed in ipairs(call('HMGET', holdsKey, unpack(partFields(page)))) do
      local part = packed and cmsgpack.unpack(packed)
      earliest = math.min(earliest, part and part.prepaidAt or math.huge)
      if part and mayNeed(part, finish) and not (last and page[index] < last) then last = page[index] end
    end
  end
  return earliest, last
end

-- Up to which end lots lapse. Where an open call may need the first one, none does. One such call is remembered, and all are
-- looked at again only when that one has ended: ids say nothing of which call ends first, so some seven times for a thousand.
local function lapseUntil(finish)
  if account.neededBy then
    local lease, part = readHold(account.neededBy)
    if lease and not lease.isExpired and mayNeed(part, finish) then return never end
  end
  local earliest, last = findNeeding(finish)
  if last or account.neededBy then
    account.neededBy = last
    keepAccount(false)
  end
  return math.min(now, earliest)
end

-- Removes the lots that have expired, but for those that an open call may need: it was admitted before.
local function lapse()
  local first = getPrepaid().lots[1]
  if not first or now < first.expiresAt then return end
  local finish = lapseUntil(first.expiresAt)
  if finish < first.expiresAt then return end
  local lapsed = {}
  removeLots(function(lot)
    if finish < lot.expiresAt then return false end
    lapsed[#lapsed + 1] = lot
    return true
  end)
  writePrepaid()
  for _, lot in ipairs(lapsed) do
    -- No entry of the journal has the same numbers.
    local id = string.format('expiry_%.0f-%.0f', now, account.journalSequence + 1)
    journal(id, 'expiry', -lot.left, {}, string.format('{"endedAt":%.0f}', lot.expiresAt))
  end
  keepAccount(false)
end
`;
