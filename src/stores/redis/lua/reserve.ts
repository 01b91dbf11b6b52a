import { replyCodes as code } from "./replies.js";

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

/** Extends leases of one account, and records what they have cost so far. */
export const renew = `
local isChanged, isExtended = false, false

-- Times do not go back, though the clock may.
local function postpone(key, id, time)
  write('ZADD', key, math.max(tonumber(call('ZSCORE', key, id)), time), id)
end

-- A hold of nothing stays one: it may have been admitted to no session.
local function raise(hold, part, observed)
  local rise = observed - hold.held
  local most = math.max(account.session.held, account.week.held, account.month.held)
  if hold.held == 0 or rise <= 0 or most + rise > maxInteger then return end
  hold.held = observed
  if part then useLimits().raise(part, rise) end
  if part and part.prepaid > 0 then return end
  for _, name in ipairs(windowNames) do
    if account[name].start == hold[name].start then account[name].held = account[name].held + rise end
  end
end

local function keepTags(id, tags)
  if tags then write('HSET', holdsKey, tagsField(id), tags) end
end

local function renewHold(id, hold, part, observed, leaseMs, uses)
  hold.checkpoint = math.max(hold.checkpoint, observed)
  raise(hold, part, observed)
  write('HSET', holdsKey, id, packLease(hold))
  if part then
    part.uses = uses or part.uses
    write('HSET', holdsKey, partField(id), packPart(part))
    useLimits().keep()
    useLimits().prolong(part)
  end
  postpone(leasesKey, id, now + leaseMs)
  isChanged, isExtended = true, true
end

local function renewExpired(id, hold, part, observed, tags)
  local rise = observed - hold.checkpoint
  if rise > 0 then
    local hasLaterEnd, share = endHold(hold, part, 0, rise)
    if limits then limits.keep() end
    isChanged, isExtended = true, isExtended or hasLaterEnd
    journalCharge(id, 'checkpoint', hold, rise, share, tags or call('HGET', holdsKey, tagsField(id)))
    hold.checkpoint = observed
    write('HSET', holdsKey, id, packLease(hold))
  end
  -- It is remembered for as long as it gives signs of life.
  postpone(expiredKey, id, now)
end

loadAccount()
if expire() then
  writeAccount()
  return { 'again' }
end
if packedPrepaid then useLimits().lapse() end

local reply = { 'done' }
for index, renewal in ipairs(arguments[3]) do
  local id, amount, observed, leaseMs, uses, tags = unpack(renewal)
  local hold, part = readHold(id)
  if not hold then
    reply[index + 1] = 'closed'
  elseif hold.amount ~= amount then
    reply[index + 1] = 'conflict'
  elseif hold.isExpired then
    renewExpired(id, hold, part, observed, tags)
    keepTags(id, tags)
    reply[index + 1] = 'expired'
  else
    renewHold(id, hold, part, observed, leaseMs, uses)
    keepTags(id, tags)
    reply[index + 1] = 'renewed'
  end
end
if isChanged then keepAccount(isExtended) end
writeAccount()
return reply
`;

/** Ends a reservation: charges what it has cost, or gives all of it back. */
export const settle = `
-- The newest windows: whether they are open is the caller's to tell.
local function answerNow(status)
  return answer(status, account.session, account.week, account.month)
end

local function showPaid(paid)
  if paid == 0 then return end
  shown = shown or { caps = {}, rates = {} }
  shown.paid = paid
end

local function settle(operation)
  -- Twice as long as a repetition may come late, since the caller's clock is another.
  local receiptMs = 120000
  local repetitionMs = 60000

  local id, kind, tags, amount, firstSentAt, reserved, expiresAt,
    sessionStart, weekStart, monthStart, sessionFinish, weekFinish, monthFinish,
    sessionLimit, weekLimit, monthLimit, prepaidAt, prepaid, leasedCaps, rateIds, uses = unpack(operation, 2)
  if leasedCaps then shown = { caps = useLimits().idsOf(leasedCaps), rates = rateIds } end

  local hold, part = readHold(id)
  local known = hold or readLease(call('GET', ownKey))
  if known and known.amount ~= reserved then return answerAlone(${code.conflict}) end
  if known and not hold then
    showPaid(known.paid)
    return answerNow(${code.duplicate})
  end

  local lease, status, charge = hold, ${code.settled}, amount
  if not hold then
    lease = {
      amount = reserved, expiresAt = expiresAt, held = 0, checkpoint = 0,
      session = { start = sessionStart, finish = sessionFinish },
      week = { start = weekStart, finish = weekFinish },
      month = { start = monthStart, finish = monthFinish },
      limits = { sessionLimit, weekLimit, monthLimit }, paid = 0,
    }
    if leasedCaps and (prepaidAt > never or #leasedCaps > 0) then
      part = { prepaidAt = prepaidAt > never and prepaidAt, prepaid = prepaid, caps = leasedCaps, takes = {}, uses = {} }
    end
    -- Since it was forgotten, all sessions have begun later, or in the same millisecond.
    if sessionStart <= account.wipedAt then return answerNow(${code.duplicate}) end
    status = ${code.recovered}
    -- Perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    if firstSentAt <= now - repetitionMs or expiresAt <= account.forgottenUntil then
      journal(id, 'unresolved', amount, lease, tags)
      keepAccount(false)
      return answerNow(${code.unresolved})
    end
  elseif hold.isExpired then
    status, charge = ${code.late}, amount - hold.checkpoint
  end

  local isExtended, share = endHold(lease, part, lease.held, charge)
  if part then limits.endTakes(part, uses or {}, kind) end
  journalCharge(id, kind, lease, charge, share, tags)
  write('SET', ownKey, packReceipt(lease), 'PX', receiptMs)
  if hold then
    -- A renewal that has said something of the call has reported a cost, too.
    if part or hold.checkpoint > 0 then
      write('HDEL', holdsKey, id, partField(id), tagsField(id))
    else
      write('HDEL', holdsKey, id)
    end
    write('ZREM', hold.isExpired and expiredKey or leasesKey, id)
  end
  if limits then limits.keep() end
  keepAccount(isExtended)
  showPaid(lease.paid)
  return answerNow(status)
end
`;
