/** The state of an account, as it will be when its expired holds have ended. Writes nothing. */
export const balance = `
local mostPerRead = 1000

local now = readClock()
local account = loadAccount()
local week1, week2, week3, week4, month1, month2, month3, month4 = unpack(arguments, 3)
local weeks, months = { week1, week2, week3, week4 }, { month1, month2, month3, month4 }

local due = now < account.nextExpiry and {} or call('ZRANGEBYSCORE', leasesKey, '-inf', now)
for first = 1, #due, mostPerRead do
  local packed = call('HMGET', holdsKey, unpack(due, first, math.min(first + mostPerRead - 1, #due)))
  for _, one in ipairs(packed) do
    if one then
      local hold = readLease(one)
      addCharge(account, hold, hold.held, hold.checkpoint, now)
    end
  end
end

local open = openInstances(account, weeks, months, now)
if not (open.week and open.month) then return answerMissedBounds(now, open) end
return answer('done', now, open)
`;
