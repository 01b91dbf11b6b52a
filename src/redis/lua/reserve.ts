/** Admits a reservation if something is left in every window, and holds its amount. */
export const reserve = `
local id, amount, leaseMs, need = nextText(), nextNumber(), nextNumber(), nextNumber()
local limits = { session = nextNumber(), week = nextNumber(), month = nextNumber() }
local sessionMs, calendar = nextNumber(), nextCalendar()

local function answerLease(status, open, lease)
  local reply = answer(status, now, open)
  reply[18] = lease.expiresAt
  for index, name in ipairs(windowNames) do
    reply[17 + 2 * index], reply[18 + 2 * index] = lease[name].start, lease[name].finish
  end
  return reply
end

-- A limit of -1 is none.
local function isExhausted(name, instance)
  if limits[name] < 0 then return false end
  return instance.used + instance.held + need > limits[name] + instance.bonus
end

local open = openInstances(account, calendar, now)
if not (open.week and open.month) then return answerMissedBounds(now, open) end

local earlier = findHold(id) or findReceipt()
if earlier then
  if earlier.amount ~= amount then return { 'conflict' } end
  return answerLease('replayed', open, earlier)
end

local session = open.session or newInstance(now, now + sessionMs)
local admission = { session = session, week = open.week, month = open.month }
for _, name in ipairs(windowNames) do
  if isExhausted(name, admission[name]) then return answer('denied', now, open) end
end
if not canHold(open, amount) then return { 'too large' } end

-- What holds nothing opens no session.
if amount > 0 then account.session = session end
account.week, account.month = open.week, open.month
addHold(account, admission, amount)
account.isChanged, account.isExtended = true, true

local lease = {
  amount = amount, expiresAt = now + leaseMs, held = amount, checkpoint = 0,
  session = session, week = open.week, month = open.month,
}
redis.call('HSET', holdsKey, id, packHold(lease))
redis.call('ZADD', leasesKey, lease.expiresAt, id)
return answerLease('admitted', openInstances(account, calendar, now), lease)
`;
