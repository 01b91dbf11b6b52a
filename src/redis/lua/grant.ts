/** Adds to the limit of one window's instance, once per id. */
export const grant = `
local grantMemoryMs = 31 * dayMs

local function grant(operation)
  local id, name, tags, amount, week1, week2, week3, week4, month1, month2, month3, month4 = unpack(operation, 2)

  local open = {
    session = openSession(),
    week = calendarInstance(account.week, week1, week2, week3, week4),
    month = calendarInstance(account.month, month1, month2, month3, month4),
  }
  if not (open.week and open.month) then return pack(statusAndNow, missedBounds, now) end

  local given = name .. string.format(' %.0f', amount)
  local earlier = call('GET', ownKey)
  if earlier and earlier ~= given then return answerAlone(conflict) end
  if earlier then return answer(current, open.session, open.week, open.month) end

  local instance = open[name]
  if not instance then return answerAlone(noSession) end
  if math.abs(instance.bonus + amount) > maxInteger then return answerAlone(tooLarge) end

  account[name] = instance
  instance.bonus = instance.bonus + amount
  closeEmptySession()
  journal(id, 'grant', amount, { [name] = instance }, tags)
  write('SET', ownKey, given, 'PX', grantMemoryMs)
  keepAccount(true)
  return answer(current, openSession(), open.week, open.month)
end
`;
