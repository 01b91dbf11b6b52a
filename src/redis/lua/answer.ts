import { replyLengths } from "../batch/reply-lengths.js";

/** The format of so many numbers, by whether they go as text. */
const numbers = (count: number) => `isText and '${"%.0f,".repeat(count)}' or '<${"d".repeat(count)}'`;

/**
 * What the script returns of an operation: numbers in one string, as 64-bit floats or, where the client reads replies as
 * text only, in digits. Both are exact, which the clients' parsers of integers are not.
 */
export const answer = `
local isText = arguments[3] == 1
local pack = isText and string.format or struct.pack
local statusAndNow = ${numbers(replyLengths.done)}
local withWindows = ${numbers(replyLengths.current)}
local withLease = ${numbers(replyLengths.replayed)}
local none = newInstance(never, never)

-- What the answer of an operation is to show beside the windows: ids of caps and rates, and the part of a lease.
local shown

local function answerAlone(status)
  return pack(statusAndNow, status, now)
end

local function answer(status, session, week, month)
  session, week, month = session or none, week or none, month or none
  return pack(
    withWindows, status, now,
    session.start, session.finish, session.used, session.held, session.bonus,
    week.start, week.finish, week.used, week.held, week.bonus,
    month.start, month.finish, month.used, month.held, month.bonus
  )
end

-- With the lease's own numbers, where they do not follow from the open windows.
local function answerLease(status, session, week, month, lease)
  session = session or none
  return pack(
    withLease, status, now,
    session.start, session.finish, session.used, session.held, session.bonus,
    week.start, week.finish, week.used, week.held, week.bonus,
    month.start, month.finish, month.used, month.held, month.bonus,
    lease.expiresAt, lease.session.start, lease.session.finish,
    lease.week.start, lease.week.finish, lease.month.start, lease.month.finish
  )
end
`;
