import { replyCodes as code } from "./replies.js";

/** Adds to the limit of one window's instance, once per id. */
export const grant = `
local function grant(operation)
  local grantMemoryMs = 2678400000 -- 31 days
  local id, name, tags, amount, week1, week2, week3, week4, month1, month2, month3, month4 = unpack(operation, 2)

  local open = {
    session = openSession(),
    week = calendarInstance(account.week, week1, week2, week3, week4),
    month = calendarInstance(account.month, month1, month2, month3, month4),
  }
  if not (open.week and open.month) then return answerAlone(${code.missedBounds}) end

  local given = name .. string.format(' %.0f', amount)
  local earlier = call('GET', ownKey)
  if earlier and earlier ~= given then return answerAlone(${code.conflict}) end
  if earlier then return answer(${code.current}, open.session, open.week, open.month) end

  local instance = open[name]
  if not instance then return answerAlone(${code.noSession}) end
  if math.abs(instance.bonus + amount) > maxInteger then return answerAlone(${code.tooLarge}) end

  account[name] = instance
  instance.bonus = instance.bonus + amount
  closeEmptySession()
  journal(id, 'grant', amount, { [name] = instance }, tags)
  write('SET', ownKey, given, 'PX', grantMemoryMs)
  keepAccount(true)
  return answer(${code.current}, openSession(), open.week, open.month)
end
`;

/** Sets the use of the open windows that are named back to zero. */
export const reset = `
local function reset(operation)
  local isChanged = false
  for _, named in ipairs(operation[2]) do
    local name, id = unpack(named)
    local instance = account[name]
    if instance.used > 0 and now < instance.finish then
      journal(id, 'reset', -instance.used, { [name] = instance })
      instance.used = 0
      isChanged = true
    end
  end
  closeEmptySession()
  if isChanged then keepAccount(false) end
  return answerAlone(${code.done})
end
`;

/**
 * Deletes an account, its holds and its journal. Results of ended ids stay until their time is up. The moment of
 * forgetting stays for a day at least: a settlement of an earlier lease must not bring the account back.
 */
export const forget = `
local function forget()
  write('DEL', holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey)
  packedPrepaid = false
  if limits then limits.drop() end
  account = {
    session = newInstance(never, never), week = newInstance(never, never), month = newInstance(never, never),
    nextExpiry = 0, forgottenUntil = 0, journalMs = 0, journalSequence = 0, wipedAt = math.max(account.wipedAt, now),
  }
  keepAccount(false)
  return answerAlone(${code.done})
end
`;

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
