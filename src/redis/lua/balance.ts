/** The state of an account, as it will be when its expired holds have ended. Writes nothing. */
export const balance = `
local mostPerRead = 1000

local week1, week2, week3, week4, month1, month2, month3, month4 = unpack(arguments, 3)

local due = now < account.nextExpiry and {} or call('ZRANGEBYSCORE', leasesKey, '-inf', now)
for first = 1, #due, mostPerRead do
  local packed = call('HMGET', holdsKey, unpack(due, first, math.min(first + mostPerRead - 1, #due)))
  for _, one in ipairs(packed) do
    local hold = readLease(one)
    if hold then addCharge(hold, hold.held, hold.checkpoint) end
  end
end

local week = calendarInstance(account.week, week1, week2, week3, week4)
local month = calendarInstance(account.month, month1, month2, month3, month4)
if not (week and month) then return { 'missed bounds', now, week and 'month' or 'week' } end
return answer('done', openSession(), week, month)
`;
