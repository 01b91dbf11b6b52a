import { doubles } from "./doubles.js";

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
