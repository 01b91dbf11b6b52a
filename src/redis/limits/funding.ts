/** Who pays for a call: the plan as far as every limited window has room, and prepaid credits the rest. */
export const funding = `
-- What the plan may still be charged for a call: the least that the limited windows of its admission have. One that has
-- ended limits no more.
local function roomOf(lease)
  local least = math.huge
  for index = 1, 3 do
    local name, limit = windowNames[index], lease.limits[index]
    local admitted, newest = lease[name], account[name]
    if limit >= 0 and now < admitted.finish then
      if newest.start == admitted.start then
        least = math.min(least, roomIn(newest, limit))
      elseif isLater(newest, admitted) then
        -- As if nothing had been charged to it yet. A charge makes it the newest.
        least = math.min(least, limit)
      end
    end
  end
  return least
end

-- When the account had prepaid credits at the admission of a call.
local function admittedAt(part)
  return part and part.prepaidAt or now
end

-- How much of a charge prepaid credits pay. They get back what they have paid first.
local function prepaidShare(lease, part, charge)
  if charge < 0 then return lease.paid == 0 and 0 or -math.min(-charge, lease.paid) end
  local held = part and part.prepaid or 0
  if held == 0 and not (packedPrepaid and useLimits().balanceAt(admittedAt(part)) > 0) then return 0 end
  local room = roomOf(lease)
  -- Its windows are over. The plan, which had nothing left at the admission, does not pay for it.
  if room == math.huge and held > 0 and held == lease.amount then return charge end
  return charge - math.min(charge, room)
end

-- What a hold of so much has of prepaid credits. What it was raised by since its admission is prepaid where some of it was.
local function heldOfPrepaid(lease, part, held)
  if not part or part.prepaid == 0 or held == 0 then return 0 end
  return held - (lease.amount - part.prepaid)
end

-- Gives back what a lease holds, and charges the amount in its place. Answers whether the account has a later end now, and
-- what prepaid credits pay of the amount.
local function endHold(lease, part, held, amount)
  if not (part or packedPrepaid or lease.paid > 0) then return addCharge(lease, held, amount), 0 end
  local share, ofPrepaid = prepaidShare(lease, part, amount), heldOfPrepaid(lease, part, held)
  local isExtended = addCharge(lease, held - ofPrepaid, amount - share)
  useLimits().endPrepaid(ofPrepaid, share, admittedAt(part))
  if part then limits.chargeCaps(part, held, amount) end
  lease.paid = lease.paid + share
  return isExtended, share
end

-- It shows in no window if prepaid credits pay all of it.
local function journalCharge(id, kind, lease, amount, share, tags)
  journal(id, kind, amount, share ~= 0 and share == amount and {} or lease, tags, share)
end
`;
