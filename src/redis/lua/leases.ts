import { doubles } from "./doubles.js";

/**
 * What is known of reservations. Those that hold something and those that have expired are fields of a hash by their
 * ids, with their time in a sorted set each; of those that have ended a receipt is kept, a key of its own.
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
`;
