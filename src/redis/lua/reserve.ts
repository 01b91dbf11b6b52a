import { replyCodes as code } from "../batch/reply-codes.js";

/** Admits a reservation if something is left for it in every window and of prepaid credits together, and holds its amount. */
export const reserve = `
-- What no call holds. A limit of -1 is none.
local function leftIn(instance, limit)
  return limit < 0 and math.huge or roomIn(instance, limit) - instance.held
end

-- The answer shows it.
local function showPart(part)
  if not part then return end
  shown = shown or { caps = {}, rates = {} }
  shown.part = part
end

local function holdLease(id, lease, part, isExtended)
  account.nextExpiry = math.min(account.nextExpiry, lease.expiresAt)
  if part then
    write('HSET', holdsKey, id, packLease(lease), partField(id), packPart(part))
  else
    write('HSET', holdsKey, id, packLease(lease))
  end
  write('ZADD', leasesKey, lease.expiresAt, id)
  if part then limits.keep() end
  keepAccount(isExtended or part, true)
end

local function reserve(operation)
  local id, amount, leaseMs, need, sessionLimit, weekLimit, monthLimit, sessionMs,
    week1, week2, week3, week4, month1, month2, month3, month4, capLimits, rateLimits = unpack(operation, 2)

  local open = openSession()
  local week = calendarInstance(account.week, week1, week2, week3, week4)
  local month = calendarInstance(account.month, month1, month2, month3, month4)
  if not (week and month) then return answerAlone(${code.missedBounds}) end

  local named = capLimits and useLimits().open(capLimits, rateLimits)
  if capLimits then
    if not named then return answerAlone(${code.missedBounds}) end
    shown = { caps = limits.idsOf(capLimits), rates = limits.idsOf(rateLimits) }
  end

  local known, knownPart = readHold(id)
  local earlier = known or readLease(call('GET', ownKey))
  if earlier then
    if earlier.amount ~= amount then return answerAlone(${code.conflict}) end
    showPart(knownPart)
    return answerLease(${code.replayed}, open, week, month, earlier)
  end

  local session = open or newInstance(now, now + sessionMs)
  local left = math.min(leftIn(session, sessionLimit), leftIn(week, weekLimit), leftIn(month, monthLimit))
  local balance, heldOfBalance = 0, 0
  if packedPrepaid then balance, heldOfBalance = useLimits().funds() end
  if left + balance - heldOfBalance < need or named and limits.denies(named, need) then
    return answer(${code.denied}, open, week, month)
  end
  -- What the plan has not left. Nothing is known of it where the account has no prepaid credits.
  local prepaid = balance > 0 and amount - math.min(amount, math.max(0, left)) or nil
  if prepaid and not named then named = limits.open({}, {}) end
  if
    math.max(session.held, week.held, month.held) + amount > maxInteger
    or named and not limits.canHold(named, amount)
  then
    return answerAlone(${code.tooLarge})
  end

  local lease = {
    amount = amount, expiresAt = now + leaseMs, held = amount, checkpoint = 0,
    session = session, week = week, month = month,
    limits = { sessionLimit, weekLimit, monthLimit }, paid = 0,
  }
  local part = named and limits.hold(named, amount, prepaid)
  showPart(part)
  local ofPlan = amount - (prepaid or 0)
  if ofPlan == 0 and amount > 0 then
    holdLease(id, lease, part, false)
    return answerLease(${code.admittedApart}, open, week, month, lease)
  end

  local isExtended = week ~= account.week or month ~= account.month
  account.week, account.month = week, month
  week.held, month.held = week.held + ofPlan, month.held + ofPlan
  -- What holds nothing opens no session.
  if amount > 0 then
    isExtended = isExtended or session ~= account.session
    account.session, open = session, session
    session.held = session.held + ofPlan
  end

  holdLease(id, lease, part, isExtended)
  if session == open then return answer(${code.admitted}, open, week, month) end
  return answerLease(${code.admittedApart}, open, week, month, lease)
end
`;
