import { doubles } from "./doubles.js";

/**
 * What is known of reservations. Those that hold something and those that have expired are fields of a hash by their
 * ids, with their time in a sorted set each; of those that have ended a receipt is kept, a key of its own.
 *
 * What one has beside the windows is its part, a field of its own: a process that knows of no parts does not drop it.
 */
export const leases = `
local function readLease(packed)
  if not packed then return nil end
  local amount, expiresAt, sessionStart, sessionFinish, weekStart, weekFinish, monthStart, monthFinish,
    held, checkpoint, isExpired = struct.unpack(${doubles(11)}, packed)
  return {
    amount = amount,
    expiresAt = expiresAt,
    session = { start = sessionStart, finish = sessionFinish },
    week = { start = weekStart, finish = weekFinish },
    month = { start = monthStart, finish = monthFinish },
    held = held,
    checkpoint = checkpoint,
    isExpired = isExpired == 1,
  }
end

local function packLease(lease)
  return struct.pack(
    ${doubles(11)},
    lease.amount, lease.expiresAt, lease.session.start, lease.session.finish,
    lease.week.start, lease.week.finish, lease.month.start, lease.month.finish,
    lease.held, lease.checkpoint, lease.isExpired and 1 or 0
  )
end

-- No id begins with a control character.
local function partField(id)
  return '\\1' .. id
end

-- The prepaid credits, caps and buckets of a lease, with what its renewals have reported.
local function packPart(part)
  return cmsgpack.pack(part)
end

local function partFields(ids)
  local fields = {}
  for index, id in ipairs(ids) do fields[index] = partField(id) end
  return fields
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
