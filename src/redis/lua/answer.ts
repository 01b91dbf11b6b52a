/** What the script returns of three instances. */
export const answer = `
local none = { start = false, finish = false, used = false, held = false, bonus = false }

local function visible(instance)
  if not instance or instance.finish == never then return none end
  local used, held, bonus = instance.used, instance.held, instance.bonus
  if math.max(used, held, math.abs(bonus)) < 2 ^ 52 then return instance end
  -- The clients' parsers of integers are not exact up to the last ones, their parsers of text are.
  return {
    start = instance.start, finish = instance.finish,
    used = string.format('%.0f', used), held = string.format('%.0f', held), bonus = string.format('%.0f', bonus),
  }
end

local function answer(status, session, week, month)
  session, week, month = visible(session), visible(week), visible(month)
  return {
    status, now,
    session.start, session.finish, session.used, session.held, session.bonus,
    week.start, week.finish, week.used, week.held, week.bonus,
    month.start, month.finish, month.used, month.held, month.bonus,
  }
end
`;
