/**
 * The prepaid credits of an account, in one string: what open calls hold, what is overdrawn, and of each lot when it
 * expires and what is left. It has no time to live: what was sold must not end with the account's windows.
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
  local lots = prepaid.lots
  if #lots == 0 and prepaid.held == 0 and prepaid.overdrawn == 0 then
    write('DEL', prepaidKey)
    packedPrepaid = false
    return
  end
  local parts = { struct.pack('<dd', prepaid.held, prepaid.overdrawn) }
  for _, lot in ipairs(lots) do parts[#parts + 1] = struct.pack('<dd', lot.expiresAt, lot.left) end
  packedPrepaid = table.concat(parts)
  write('SET', prepaidKey, packedPrepaid)
end

-- Whether so much is available: in lots that have not expired, not overdrawn, and not held.
local function canFund(need)
  local available = -getPrepaid().overdrawn
  for _, lot in ipairs(prepaid.lots) do
    if now < lot.expiresAt then available = available + lot.left end
  end
  return available - prepaid.held >= need
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

-- Removes the lots that have expired, unless an open call may still need them.
local function lapse()
  local first = getPrepaid().lots[1]
  if not first or now < first.expiresAt or prepaid.held > 0 then return end
  local lapsed = 0
  removeLots(function(lot)
    if now < lot.expiresAt then return false end
    lapsed = lapsed + lot.left
    return true
  end)
  writePrepaid()
  -- No entry of the journal has the same numbers.
  journal(string.format('expiry_%.0f-%.0f', now, account.journalSequence + 1), 'expiry', -lapsed, {})
  keepAccount(false)
end
`;
