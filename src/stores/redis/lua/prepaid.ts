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

/** Who pays for a call: the plan as far as every limited window has room, and prepaid credits the rest. */
export const funding = `
-- What the plan may still be charged for a call: the least that the limited windows of its admission have. One that has
-- ended limits no more.
local function roomOf(lease)
  local least = math.huge
  for index = 1, 3 do
    local name, limit = windowNames[index], lease.limits[index]
    local admitted, newest = lease[name], account[name]
    if limit >= 0 and now < admitted.finish then
      if newest.start == admitted.start then
        least = math.min(least, roomIn(newest, limit))
      elseif isLater(newest, admitted) then
        -- As if nothing had been charged to it yet. A charge makes it the newest.
        least = math.min(least, limit)
      end
    end
  end
  return least
end

-- When the account had prepaid credits at the admission of a call.
local function admittedAt(part)
  return part and part.prepaidAt or now
end

-- How much of a charge prepaid credits pay. They get back what they have paid first.
local function prepaidShare(lease, part, charge)
  if charge < 0 then return lease.paid == 0 and 0 or -math.min(-charge, lease.paid) end
  local held = part and part.prepaid or 0
  if held == 0 and not (packedPrepaid and useLimits().balanceAt(admittedAt(part)) > 0) then return 0 end
  local room = roomOf(lease)
  -- Its windows are over. The plan, which had nothing left at the admission, does not pay for it.
  if room == math.huge and held > 0 and held == lease.amount then return charge end
  return charge - math.min(charge, room)
end

-- What a hold of so much has of prepaid credits. What it was raised by since its admission is prepaid where some of it was.
local function heldOfPrepaid(lease, part, held)
  if not part or part.prepaid == 0 or held == 0 then return 0 end
  return held - (lease.amount - part.prepaid)
end

-- Gives back what a lease holds, and charges the amount in its place. Answers whether the account has a later end now, and
-- what prepaid credits pay of the amount.
local function endHold(lease, part, held, amount)
  if not (part or packedPrepaid or lease.paid > 0) then return addCharge(lease, held, amount), 0 end
  local share, ofPrepaid = prepaidShare(lease, part, amount), heldOfPrepaid(lease, part, held)
  local isExtended = addCharge(lease, held - ofPrepaid, amount - share)
  useLimits().endPrepaid(ofPrepaid, share, admittedAt(part))
  if part then limits.chargeCaps(part, held, amount) end
  lease.paid = lease.paid + share
  return isExtended, share
end

-- It shows in no window if prepaid credits pay all of it.
local function journalCharge(id, kind, lease, amount, share, tags)
  journal(id, kind, amount, share ~= 0 and share == amount and {} or lease, tags, share)
end
`;
