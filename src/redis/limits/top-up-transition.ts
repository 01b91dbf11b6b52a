import { replyCodes as code } from "../batch/reply-codes.js";

/** Adds prepaid credits, or takes some back where the amount is negative, once per id. */
export const topUpTransition = `
local function topUp(operation)
  local topUpMemoryMs = 2678400000 -- 31 days
  local id, tags, amount, expiresAt = unpack(operation, 2)

  local given = string.format('%.0f %.0f', amount, expiresAt)
  local earlier = call('GET', ownKey)
  if earlier and earlier ~= given then return answerAlone(${code.conflict}) end
  if earlier then return answerAlone(${code.done}) end
  if expiresAt <= now then return answerAlone(${code.tooEarly}) end
  if amount < 0 then
    useLimits().deduct(-amount)
  else
    local problem = useLimits().topUp(amount, expiresAt)
    if problem then return answerAlone(problem) end
  end

  journal(id, amount < 0 and 'deduction' or 'topup', amount, {}, tags)
  write('SET', ownKey, given, 'PX', topUpMemoryMs)
  limits.keep()
  keepAccount(false)
  return answerAlone(${code.done})
end
`;
