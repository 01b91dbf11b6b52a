import { replyCodes as code } from "../batch/reply-codes.js";

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
