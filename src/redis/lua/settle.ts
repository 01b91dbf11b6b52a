/** Ends a reservation: charges what it has cost, or gives all of it back. */
export const settle = `
local id, kind, tags, amount, firstSentAt, reserved, expiresAt,
  sessionStart, weekStart, monthStart, sessionFinish, weekFinish, monthFinish,
  week1, week2, week3, week4, month1, month2, month3, month4 = unpack(arguments, 3)
local weeks, months = { week1, week2, week3, week4 }, { month1, month2, month3, month4 }

local function settleHold(hold)
  addCharge(account, hold, hold.held, amount, now)
  journal(account, now, id, kind, amount, hold, tags)
  call('HDEL', holdsKey, id)
  call('ZREM', leasesKey, id)
  saveReceipt(hold)
  return 'settled'
end

local function settleExpired(hold)
  local charge = amount - hold.checkpoint
  addCharge(account, hold, 0, charge, now)
  journal(account, now, id, kind, charge, hold, tags)
  call('HDEL', holdsKey, id)
  call('ZREM', expiredKey, id)
  saveReceipt(hold)
  return 'late'
end

local function settleUnknown()
  local lease = {
    amount = reserved,
    expiresAt = expiresAt,
    session = { start = sessionStart, finish = sessionFinish },
    week = { start = weekStart, finish = weekFinish },
    month = { start = monthStart, finish = monthFinish },
  }
  -- Perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
  if firstSentAt <= now - repetitionMs or expiresAt <= account.forgottenUntil then
    journal(account, now, id, 'unresolved', amount, lease, tags)
    return 'unresolved'
  end
  addCharge(account, lease, 0, amount, now)
  journal(account, now, id, kind, amount, lease, tags)
  saveReceipt(lease)
  return 'recovered'
end

local hold = findHold(id)
local known = hold or findReceipt()
if known and known.amount ~= reserved then return { 'conflict' } end

local status = 'duplicate'
if hold and hold.isExpired then
  status = settleExpired(hold)
elseif hold then
  status = settleHold(hold)
elseif not known then
  status = settleUnknown()
end
if status ~= 'duplicate' then account.isChanged = true end
return answer(status, now, openInstances(account, weeks, months, now))
`;
