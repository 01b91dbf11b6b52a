/** Which instances are open now, and what the caller is told of them. */
export const windows = `
local function nextBounds()
  return { nextNumber(), nextNumber(), nextNumber(), nextNumber() }
end

local function nextCalendar()
  return { week = nextBounds(), month = nextBounds() }
end

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
local function openInstances(account, calendar, now)
  return {
    session = now < account.session.finish and account.session or nil,
    week = calendarInstance(account.week, calendar.week, now),
    month = calendarInstance(account.month, calendar.month, now),
  }
end

-- The clients' parsers of integers are not exact up to the last ones.
local function exact(number)
  if math.abs(number) < 2 ^ 52 then return number end
  return string.format('%.0f', number)
end

local function answer(status, now, open)
  local reply = { status, now }
  for index, name in ipairs(windowNames) do
    local instance = open[name]
    local at = 5 * index - 2
    if instance then
      reply[at], reply[at + 1] = instance.start, instance.finish
      reply[at + 2], reply[at + 3], reply[at + 4] = exact(instance.used), exact(instance.held), exact(instance.bonus)
    else
      for offset = 0, 4 do reply[at + offset] = false end
    end
  end
  return reply
end

local function answerMissedBounds(now, open)
  return { 'missed bounds', now, open.week and 'month' or 'week' }
end
`;
