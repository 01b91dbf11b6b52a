/** Admits a reservation if something is left in every window, and holds its amount. */
export const reserve = `
local id, amount, leaseMs, need, sessionLimit, weekLimit, monthLimit, sessionMs,
  week1, week2, week3, week4, month1, month2, month3, month4 = unpack(arguments, 3)

local open = openSession()
local week = calendarInstance(account.week, week1, week2, week3, week4)
local month = calendarInstance(account.month, month1, month2, month3, month4)
if not (week and month) then return { 'missed bounds', now, week and 'month' or 'week' } end

-- The lease's own numbers, where they do not follow from the open windows.
local function answerLease(status, lease)
  local reply = answer(status, open, week, month)
  reply[18] = lease.expiresAt
  reply[19], reply[20] = lease.session.start, lease.session.finish
  reply[21], reply[22] = lease.week.start, lease.week.finish
  reply[23], reply[24] = lease.month.start, lease.month.finish
  return reply
end

local earlier = readLease(call('HGET', holdsKey, id)) or readLease(call('GET', ownKey))
if earlier then
  if earlier.amount ~= amount then return { 'conflict' } end
  return answerLease('replayed', earlier)
end

-- A limit of -1 is none.
local function isExhausted(instance, limit)
  return limit >= 0 and instance.used + instance.held + need > limit + instance.bonus
end

local session = open or newInstance(now, now + sessionMs)
if isExhausted(session, sessionLimit) or isExhausted(week, weekLimit) or isExhausted(month, monthLimit) then
  return answer('denied', open, week, month)
end
if math.max(session.held, week.held, month.held) + amount > maxInteger then return { 'too large' } end

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
call('HSET', holdsKey, id, packLease(lease))
call('ZADD', leasesKey, lease.expiresAt, id)
saveAccount(isExtended, call('ZCARD', leasesKey) == 1)
if session == open then return answer('admitted', open, week, month) end
return answerLease('admitted', lease)
`;
