import { doubles } from "./prelude.js";

/**
 * What is known of reservations. Those that hold something and those that have expired are fields of a hash by their
 * ids, with their time in a sorted set each; of those that have ended a receipt is kept, a key of its own.
 * What one has beside the windows is its part, a field of its own, which most do not have.
 */
export const leases = `
local function readLease(packed)
  if not packed then return nil end
  local plainLength = 11 * 8
  local amount, expiresAt, sessionStart, sessionFinish, weekStart, weekFinish, monthStart, monthFinish,
    held, checkpoint, isExpired = struct.unpack(${doubles(11)}, packed)
  local lease = {
    amount = amount,
    expiresAt = expiresAt,
    session = { start = sessionStart, finish = sessionFinish },
    week = { start = weekStart, finish = weekFinish },
    month = { start = monthStart, finish = monthFinish },
    held = held,
    checkpoint = checkpoint,
    isExpired = isExpired == 1,
    -- What prepaid credits have paid for it.
    paid = #packed > plainLength and struct.unpack('<d', packed, plainLength + 1) or 0,
  }
  -- Those of its admission. A receipt has none.
  if #packed > plainLength + 8 then
    local session, week, month = struct.unpack('<ddd', packed, plainLength + 9)
    lease.limits = { session, week, month }
  end
  return lease
end

local function packPlain(lease)
  return struct.pack(
    ${doubles(11)},
    lease.amount, lease.expiresAt, lease.session.start, lease.session.finish,
    lease.week.start, lease.week.finish, lease.month.start, lease.month.finish,
    lease.held, lease.checkpoint, lease.isExpired and 1 or 0
  )
end

local function packLease(lease)
  return packPlain(lease) .. struct.pack('<dddd', lease.paid, unpack(lease.limits))
end

-- What is kept of one that has ended.
local function packReceipt(lease)
  if lease.paid == 0 then return packPlain(lease) end
  return packPlain(lease) .. struct.pack('<d', lease.paid)
end

-- No id begins with a control character.
local function partField(id)
  return '\\1' .. id
end

-- The prepaid credits, caps and buckets of a lease, with what its renewals have reported.
local function packPart(part)
  return cmsgpack.pack(part)
end

-- What its renewals have said of the call, for the journal.
local function tagsField(id)
  return '\\2' .. id
end

local function fieldsOf(ids, toField)
  local fields = {}
  for index, id in ipairs(ids) do fields[index] = toField(id) end
  return fields
end

local function partFields(ids)
  return fieldsOf(ids, partField)
end

-- The leases and parts with these ids, each in their order.
local function readFields(ids)
  return call('HMGET', holdsKey, unpack(ids)), call('HMGET', holdsKey, unpack(partFields(ids)))
end

-- Answers the lease and its part, if it has any, as far as they are known.
local function unpackHold(packed, packedPart)
  return readLease(packed), packed and packedPart and cmsgpack.unpack(packedPart) or nil
end

local function readHold(id)
  return unpackHold(unpack(call('HMGET', holdsKey, id, partField(id))))
end
`;

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

/** So many holds end in one script at the most. */
export const mostEnded = 500;

/**
 * Ends the holds whose lease is over, charging the cost that their last renewals saw.
 *
 * Any number can be due at once, and a script keeps all other clients waiting. So one script ends some of them and, where
 * more are left, does nothing else on their account: its caller then sends the account's operations again.
 */
export const expiry = `
-- Of all accounts together.
local budget = ${mostEnded}

local function expireDue()
  local expiredMemoryMs = 3600000
  if budget == 0 then return true end
  local due = call('ZRANGEBYSCORE', leasesKey, '-inf', now, 'LIMIT', 0, budget)
  local packed, packedParts = readFields(due)
  local records, times = {}, {}
  for index, id in ipairs(due) do
    local hold, part = unpackHold(packed[index], packedParts[index])
    if hold then
      local _, share = endHold(hold, part, hold.held, hold.checkpoint)
      if part then
        useLimits().endTakes(part, part.uses, 'expiry')
        records[#records + 1], records[#records + 2] = partField(id), packPart(part)
      end
      if hold.checkpoint > 0 then
        journalCharge(id, 'checkpoint', hold, hold.checkpoint, share, call('HGET', holdsKey, tagsField(id)))
      end
      hold.held, hold.isExpired = 0, true
      records[#records + 1], records[#records + 2] = id, packLease(hold)
      times[#times + 1], times[#times + 2] = now, id
    end
  end
  write('ZREM', leasesKey, unpack(due))

  local old = call('ZRANGEBYSCORE', expiredKey, '-inf', now - expiredMemoryMs, 'LIMIT', 0, 1000)
  if #old > 0 then
    write('HDEL', holdsKey, unpack(old))
    write('HDEL', holdsKey, unpack(partFields(old)))
    write('HDEL', holdsKey, unpack(fieldsOf(old, tagsField)))
    write('ZREM', expiredKey, unpack(old))
    account.forgottenUntil = math.max(account.forgottenUntil, now - expiredMemoryMs)
  end
  if #records > 0 then
    write('HSET', holdsKey, unpack(records))
    write('ZADD', expiredKey, unpack(times))
  end
  if limits then limits.keep() end

  local first = call('ZRANGE', leasesKey, 0, 0, 'WITHSCORES')
  account.nextExpiry = tonumber(first[2] or maxInteger)
  keepAccount(true)
  local isCut = #due == budget
  budget = budget - #due
  return isCut
end

-- Answers whether more is due than may end now: the account must wait for another script.
local function expire()
  if now >= account.nextExpiry then
    -- Most often the lease that was to end then has been settled.
    local first = call('ZRANGE', leasesKey, 0, 0, 'WITHSCORES')
    account.nextExpiry = tonumber(first[2] or maxInteger)
  end
  return now >= account.nextExpiry and expireDue()
end
`;
