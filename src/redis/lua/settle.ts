/** Ends a reservation: charges what it has cost, or gives all of it back. */
export const settle = `
local id, kind, tags, amount, firstSentAt, reserved, expiresAt,
  sessionStart, weekStart, monthStart, sessionFinish, weekFinish, monthFinish,
  week1, week2, week3, week4, month1, month2, month3, month4 = unpack(arguments, 3)
local weeks, months = { week1, week2, week3, week4 }, { month1, month2, month3, month4 }

-- Twice as long as a repetition may come late, since the caller's clock is another.
local receiptMs = 120000
local repetitionMs = 60000

local function finish(lease, charge)
  journal(account, now, id, kind, charge, lease, tags)
  call('SET', ownKey, packLease(lease), 'PX', receiptMs)
end

local function settleKnown(hold)
  local charge = amount
  if hold.isExpired then charge = amount - hold.checkpoint end
  addCharge(account, hold, hold.held, charge, now)
  finish(hold, charge)
  call('HDEL', holdsKey, id)
  call('ZREM', hold.isExpired and expiredKey or leasesKey, id)
  return hold.isExpired and 'late' or 'settled'
end

local function settleUnknown()
  local lease = {
    amount = reserved,
    expiresAt = expiresAt,
    held = 0,
    checkpoint = 0,
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
  finish(lease, amount)
  return 'recovered'
end

local hold = readLease(call('HGET', holdsKey, id))
local known = hold or readLease(call('GET', ownKey))
if known and known.amount ~= reserved then return { 'conflict' } end

local status = hold and settleKnown(hold) or known and 'duplicate' or settleUnknown()
if status ~= 'duplicate' then account.isChanged = true end
return answer(status, now, openInstances(account, weeks, months, now))
`;
