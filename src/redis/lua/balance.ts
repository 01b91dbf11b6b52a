import { replyCodes as code } from "../batch/reply-codes.js";

/** The newest windows of an account, as they will be when its expired holds have ended. Writes nothing. */
export const balance = `
local mostPerRead = 1000

loadAccount()
local due = now < account.nextExpiry and {} or call('ZRANGEBYSCORE', leasesKey, '-inf', now)
for first = 1, #due, mostPerRead do
  local packed, packedParts = readFields({ unpack(due, first, math.min(first + mostPerRead - 1, #due)) })
  for index = 1, #packed do
    local hold, part = unpackHold(packed[index], packedParts[index])
    if hold then
      endHold(hold, part, hold.held, hold.checkpoint)
      if part then useLimits().endTakes(part, part.uses, 'expiry') end
    end
  end
end

local capIds, rateIds = arguments[4], arguments[5]
local shown = (packedPrepaid or limits or #capIds > 0 or #rateIds > 0) and useLimits().answer(capIds, rateIds) or ''
return shown .. answer(${code.current}, account.session, account.week, account.month)
`;
