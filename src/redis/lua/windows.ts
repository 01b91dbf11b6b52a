/** Which instances are open now. */
export const windows = `
local function calendarInstance(stored, bound1, bound2, bound3, bound4)
  if not (now >= bound1 and now < bound4) then return nil end
  local start = now < bound2 and bound1 or now < bound3 and bound2 or bound3
  local finish = now < bound2 and bound2 or now < bound3 and bound3 or bound4
  -- A stored instance that began later wins: a clock that steps back, or an anchor moved back, must not refill.
  if start > stored.start then return newInstance(start, finish) end
  -- Once the anchor was moved, an interval that began no later may outlast it; but it was said to end when it does.
  if now < stored.finish then return stored end
  return newInstance(stored.finish, finish)
end

-- An ended session is passed over, not cleared: it must be there again should the clock step back.
local function openSession()
  if now < account.session.finish then return account.session end
  return nil
end
`;
