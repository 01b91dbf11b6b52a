import { doubles } from "./doubles.js";

/**
 * What is known of reservations. Those that hold something and those that have expired are fields of a hash by their
 * ids, with their time in a sorted set each; of those that have ended a receipt is kept, a key of its own.
 */
export const leases = `
-- Twice as long as a repetition may come late, since the caller's clock is another.
local receiptMs = 120000
local repetitionMs = 60000
local expiredMemoryMs = 3600000

local function readLease(packed, format)
  local amount, expiresAt, sessionStart, sessionFinish, weekStart, weekFinish, monthStart, monthFinish,
    held, checkpoint, isExpired = struct.unpack(format, packed)
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

local function readHold(packed)
  return readLease(packed, ${doubles(11)})
end

local function readReceipt(packed)
  return readLease(packed, ${doubles(8)})
end

local function packHold(lease)
  return struct.pack(
    ${doubles(11)},
    lease.amount, lease.expiresAt, lease.session.start, lease.session.finish,
    lease.week.start, lease.week.finish, lease.month.start, lease.month.finish,
    lease.held, lease.checkpoint, lease.isExpired and 1 or 0
  )
end

local function packReceipt(lease)
  return struct.pack(
    ${doubles(8)},
    lease.amount, lease.expiresAt, lease.session.start, lease.session.finish,
    lease.week.start, lease.week.finish, lease.month.start, lease.month.finish
  )
end

local function findHold(id)
  local packed = call('HGET', holdsKey, id)
  return packed and readHold(packed)
end

local function findReceipt()
  local packed = call('GET', ownKey)
  return packed and readReceipt(packed)
end

local function saveReceipt(lease)
  call('SET', ownKey, packReceipt(lease), 'PX', receiptMs)
end
`;
