/** Holds and charges, in the window instances of an admission and in no other. */
export const charge = `
-- A session in which nothing is used or held is as if it had never been opened.
local function closeEmptySession(account)
  if account.session.used == 0 and account.session.held == 0 then account.session = newInstance(never, never) end
end

-- Whether the amount can be held on top without leaving the integers that are exact.
local function canHold(open, amount)
  for index = 1, 3 do
    local name = windowNames[index]
    if open[name] and open[name].held + amount > maxInteger then return false end
  end
  return true
end

local function addHold(account, admission, amount)
  for index = 1, 3 do
    local name = windowNames[index]
    if account[name].start == admission[name].start then account[name].held = account[name].held + amount end
  end
end

-- Gives back what was held and charges the amount in its place. A negative amount gives back an earlier charge.
local function addCharge(account, admission, held, amount, now)
  for index = 1, 3 do
    local name = windowNames[index]
    local admitted, instance = admission[name], account[name]
    local isSame = instance.start == admitted.start
    if isSame then
      instance.held = instance.held - held
    elseif amount > 0 and instance.start < admitted.start and instance.finish <= now and now < admitted.finish then
      -- An open instance later than any that is known: a session that has closed or was never opened, or the state was
      -- lost. It is taken up again, but never in the place of one that is open too, as it can be after the clock stepped.
      instance = newInstance(admitted.start, admitted.finish)
      account[name] = instance
      account.isExtended = true
      isSame = true
    end
    if isSame then instance.used = math.min(math.max(0, instance.used + amount), maxInteger) end
  end
  closeEmptySession(account)
end
`;
