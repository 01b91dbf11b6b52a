/** Ends a reservation: charges what it has cost, or gives all of it back. */
export const settle = `
local id, kind, amount, firstSentAt, tags, reserved, expiresAt, starts, ends, weeks, months = unpack(arguments)

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
    session = { start = starts[1], finish = ends[1] },
    week = { start = starts[2], finish = ends[2] },
    month = { start = starts[3], finish = ends[3] },
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
