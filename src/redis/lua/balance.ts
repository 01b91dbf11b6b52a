import { replyCodes as code } from "../batch/reply-codes.js";

/** The newest windows of an account, as they will be when its expired holds have ended. Writes nothing. */
export const balance = `
local mostPerRead = 1000

loadAccount()
local due = now < account.nextExpiry and {} or call('ZRANGEBYSCORE', leasesKey, '-inf', now)
for first = 1, #due, mostPerRead do
  local packed = call('HMGET', holdsKey, unpack(due, first, math.min(first + mostPerRead - 1, #due)))
  for _, one in ipairs(packed) do
    local hold = readLease(one)
    if hold then addCharge(hold, hold.held, hold.checkpoint) end
  end
end

return answer(${code.current}, account.session, account.week, account.month)
`;
