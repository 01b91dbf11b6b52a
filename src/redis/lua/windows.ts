/** Which instances are open now. */
export const windows = `
local function calendarInstance(stored, bound1, bound2, bound3, bound4)
  if not (now >= bound1 and now < bound4) then return nil end
  local start = now < bound2 and bound1 or now < bound3 and bound2 or bound3
  local finish = now < bound2 and bound2 or now < bound3 and bound3 or bound4
  -- It keeps its announced end: an anchor that moves, or a clock that steps back, must not refill.
  if now < stored.finish then return stored end
  -- After the anchor has moved, an interval may have begun no later: its start would not tell it from the stored one.
  return newInstance(start > stored.start and start or stored.finish, finish)
end

-- An ended session is passed over, not cleared: it must be there again should the clock step back.
local function openSession()
  if now < account.session.finish then return account.session end
  return nil
end
`;
