/** Admits a reservation if something is left in every window, and holds its amount. */
export const reserve = `
local id, amount, leaseMs, need, sessionLimit, weekLimit, monthLimit, sessionMs,
  week1, week2, week3, week4, month1, month2, month3, month4 = unpack(arguments, 3)
local weeks, months = { week1, week2, week3, week4 }, { month1, month2, month3, month4 }

local function answerLease(status, open, lease)
  local reply = answer(status, now, open)
  -- What was admitted now, to the windows that are open, follows from these.
  if status == 'admitted' and open.session == lease.session then return reply end
  reply[18] = lease.expiresAt
  reply[19], reply[20] = lease.session.start, lease.session.finish
  reply[21], reply[22] = lease.week.start, lease.week.finish
  reply[23], reply[24] = lease.month.start, lease.month.finish
  return reply
end

-- A limit of -1 is none.
local function isExhausted(instance, limit)
  return limit >= 0 and instance.used + instance.held + need > limit + instance.bonus
end

local open = openInstances(account, weeks, months, now)
if not (open.week and open.month) then return answerMissedBounds(now, open) end

local earlier = readLease(call('HGET', holdsKey, id)) or readLease(call('GET', ownKey))
if earlier then
  if earlier.amount ~= amount then return { 'conflict' } end
  return answerLease('replayed', open, earlier)
end

local session, week, month = open.session or newInstance(now, now + sessionMs), open.week, open.month
if isExhausted(session, sessionLimit) or isExhausted(week, weekLimit) or isExhausted(month, monthLimit) then
  return answer('denied', now, open)
end
if not canHold(open, amount) then return { 'too large' } end

local lease = {
  amount = amount, expiresAt = now + leaseMs, held = amount, checkpoint = 0,
  session = session, week = week, month = month,
}
account.isExtended = week ~= account.week or month ~= account.month
account.isChanged = true
account.week, account.month = week, month
-- What holds nothing opens no session.
if amount > 0 then
  account.isExtended = account.isExtended or session ~= account.session
  account.session, open.session = session, session
  addHold(account, lease, amount)
end

account.nextExpiry = math.min(account.nextExpiry, lease.expiresAt)
call('HSET', holdsKey, id, packLease(lease))
call('ZADD', leasesKey, lease.expiresAt, id)
-- New keys have no time to live yet.
if call('ZCARD', leasesKey) == 1 then account.isExtended = true end
return answerLease('admitted', open, lease)
`;
