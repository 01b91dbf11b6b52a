/** Which instances are open now, and what the caller is told of them. */
export const windows = `
local function calendarInstance(stored, bounds, now)
  if not (now >= bounds[1] and now < bounds[4]) then return nil end
  local index = now < bounds[2] and 1 or now < bounds[3] and 2 or 3
  local start, finish = bounds[index], bounds[index + 1]
  -- A stored instance that began later wins: a clock that steps back, or an anchor moved back, must not refill.
  if start > stored.start then return newInstance(start, finish) end
  -- Once the anchor was moved, an interval that began no later may outlast it; but it was said to end when it does.
  if now < stored.finish then return stored end
  return newInstance(stored.finish, finish)
end

-- An ended session is passed over, not cleared: it must be there again should the clock step back.
local function openInstances(account, weeks, months, now)
  return {
    session = now < account.session.finish and account.session or nil,
    week = calendarInstance(account.week, weeks, now),
    month = calendarInstance(account.month, months, now),
  }
end

local notOpen = { start = false, finish = false, used = false, held = false, bonus = false }

local function visible(instance)
  if not instance then return notOpen end
  local used, held, bonus = instance.used, instance.held, instance.bonus
  if math.max(used, held, math.abs(bonus)) < 2 ^ 52 then return instance end
  -- The clients' parsers of integers are not exact up to the last ones, their parsers of text are.
  return {
    start = instance.start, finish = instance.finish,
    used = string.format('%.0f', used), held = string.format('%.0f', held), bonus = string.format('%.0f', bonus),
  }
end

local function answer(status, now, open)
  local session, week, month = visible(open.session), visible(open.week), visible(open.month)
  return {
    status, now,
    session.start, session.finish, session.used, session.held, session.bonus,
    week.start, week.finish, week.used, week.held, week.bonus,
    month.start, month.finish, month.used, month.held, month.bonus,
  }
end

local function answerMissedBounds(now, open)
  return { 'missed bounds', now, open.week and 'month' or 'week' }
end
`;
