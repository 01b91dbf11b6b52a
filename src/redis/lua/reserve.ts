import { replyCodes as code } from "../batch/reply-codes.js";

/** Admits a reservation if something is left in every window, and holds its amount. */
export const reserve = `
-- A limit of -1 is none.
local function isExhausted(instance, limit, need)
  return limit >= 0 and instance.used + instance.held + need > limit + instance.bonus
end

local function reserve(operation)
  local id, amount, leaseMs, need, sessionLimit, weekLimit, monthLimit, sessionMs,
    week1, week2, week3, week4, month1, month2, month3, month4 = unpack(operation, 2)

  local open = openSession()
  local week = calendarInstance(account.week, week1, week2, week3, week4)
  local month = calendarInstance(account.month, month1, month2, month3, month4)
  if not (week and month) then return answerAlone(${code.missedBounds}) end

  local earlier = readLease(call('HGET', holdsKey, id)) or readLease(call('GET', ownKey))
  if earlier then
    if earlier.amount ~= amount then return answerAlone(${code.conflict}) end
    return answerLease(${code.replayed}, open, week, month, earlier)
  end

  local session = open or newInstance(now, now + sessionMs)
  local isDenied = isExhausted(session, sessionLimit, need)
    or isExhausted(week, weekLimit, need)
    or isExhausted(month, monthLimit, need)
  if isDenied then return answer(${code.denied}, open, week, month) end
  if math.max(session.held, week.held, month.held) + amount > maxInteger then return answerAlone(${code.tooLarge}) end

  local lease = {
    amount = amount, expiresAt = now + leaseMs, held = amount, checkpoint = 0,
    session = session, week = week, month = month,
  }
  local isExtended = week ~= account.week or month ~= account.month
  account.week, account.month = week, month
  week.held, month.held = week.held + amount, month.held + amount
  -- What holds nothing opens no session.
  if amount > 0 then
    isExtended = isExtended or session ~= account.session
    account.session, open = session, session
    session.held = session.held + amount
  end

  account.nextExpiry = math.min(account.nextExpiry, lease.expiresAt)
  write('HSET', holdsKey, id, packLease(lease))
  write('ZADD', leasesKey, lease.expiresAt, id)
  keepAccount(isExtended, call('ZCARD', leasesKey) == 1)
  if session == open then return answer(${code.admitted}, open, week, month) end
  return answerLease(${code.admittedApart}, open, week, month, lease)
end
`;
