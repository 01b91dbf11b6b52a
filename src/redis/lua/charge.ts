/** Charges the window instances of an admission, and no others. */
export const charge = `
-- What may still be charged to an instance. Holds do not count.
local function roomIn(instance, limit)
  return math.max(0, limit + instance.bonus - instance.used)
end

-- Whether an open instance is later than the newest one that is known: its session has closed or was never opened, or the
-- state was lost. It is taken up again, but never in the place of one that is open too, as it can be after the clock stepped.
local function isLater(newest, admitted)
  return newest.start < admitted.start and newest.finish <= now and now < admitted.finish
end

-- A session in which nothing is used, held or granted is as if it had never been opened.
local function closeEmptySession()
  local session = account.session
  if session.used == 0 and session.held == 0 and session.bonus == 0 then account.session = newInstance(never, never) end
end

-- Gives back what was held and charges the amount in its place; a negative amount gives back an earlier charge. Answers
-- whether the account has a later end now.
local function addCharge(admission, held, amount)
  local isExtended = false
  for index = 1, 3 do
    local name = windowNames[index]
    local admitted, instance = admission[name], account[name]
    local isSame = instance.start == admitted.start
    if isSame then
      instance.held = instance.held - held
    elseif amount > 0 and isLater(instance, admitted) then
      instance = newInstance(admitted.start, admitted.finish)
      account[name] = instance
      isSame, isExtended = true, true
    end
    if isSame then instance.used = math.min(math.max(0, instance.used + amount), maxInteger) end
  end
  closeEmptySession()
  return isExtended
end
`;
