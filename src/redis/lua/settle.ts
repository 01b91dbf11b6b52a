import { replyCodes as code } from "../batch/reply-codes.js";

/** Ends a reservation: charges what it has cost, or gives all of it back. */
export const settle = `
-- The newest windows: whether they are open is the caller's to tell.
local function answerNow(status)
  return answer(status, account.session, account.week, account.month)
end

local function showPaid(paid)
  if paid == 0 then return end
  shown = shown or { caps = {}, rates = {} }
  shown.paid = paid
end

local function settle(operation)
  -- Twice as long as a repetition may come late, since the caller's clock is another.
  local receiptMs = 120000
  local repetitionMs = 60000

  local id, kind, tags, amount, firstSentAt, reserved, expiresAt,
    sessionStart, weekStart, monthStart, sessionFinish, weekFinish, monthFinish,
    sessionLimit, weekLimit, monthLimit, prepaidAt, prepaid, leasedCaps, rateIds, uses = unpack(operation, 2)
  if leasedCaps then shown = { caps = useLimits().idsOf(leasedCaps), rates = rateIds } end

  local hold, part = readHold(id)
  local known = hold or readLease(call('GET', ownKey))
  if known and known.amount ~= reserved then return answerAlone(${code.conflict}) end
  if known and not hold then
    showPaid(known.paid)
    return answerNow(${code.duplicate})
  end

  local lease, status, charge = hold, ${code.settled}, amount
  if not hold then
    lease = {
      amount = reserved, expiresAt = expiresAt, held = 0, checkpoint = 0,
      session = { start = sessionStart, finish = sessionFinish },
      week = { start = weekStart, finish = weekFinish },
      month = { start = monthStart, finish = monthFinish },
      limits = { sessionLimit, weekLimit, monthLimit }, paid = 0,
    }
    if leasedCaps and (prepaidAt > never or #leasedCaps > 0) then
      part = { prepaidAt = prepaidAt > never and prepaidAt, prepaid = prepaid, caps = leasedCaps, takes = {}, uses = {} }
    end
    -- Since it was forgotten, all sessions have begun later, or in the same millisecond.
    if sessionStart <= account.wipedAt then return answerNow(${code.duplicate}) end
    status = ${code.recovered}
    -- Perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    if firstSentAt <= now - repetitionMs or expiresAt <= account.forgottenUntil then
      journal(id, 'unresolved', amount, lease, tags)
      keepAccount(false)
      return answerNow(${code.unresolved})
    end
  elseif hold.isExpired then
    status, charge = ${code.late}, amount - hold.checkpoint
  end

  local isExtended, share = endHold(lease, part, lease.held, charge)
  if part then limits.endTakes(part, uses or {}, kind) end
  journalCharge(id, kind, lease, charge, share, tags)
  write('SET', ownKey, packReceipt(lease), 'PX', receiptMs)
  if hold then
    -- A renewal that has said something of the call has reported a cost, too.
    if part or hold.checkpoint > 0 then
      write('HDEL', holdsKey, id, partField(id), tagsField(id))
    else
      write('HDEL', holdsKey, id)
    end
    write('ZREM', hold.isExpired and expiredKey or leasesKey, id)
  end
  if limits then limits.keep() end
  keepAccount(isExtended)
  showPaid(lease.paid)
  return answerNow(status)
end
`;
