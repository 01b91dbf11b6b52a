/** How many numbers a reply begins with: its status and the store's now. */
const withNow = 2;
/** And of each window start, end, used, held and bonus. */
const withWindows = withNow + 3 * 5;
/** And of the lease when it expires, and of each window start and end. */
const withLease = withWindows + 1 + 3 * 2;

/**
 * What may come of an operation, and of how many numbers the reply consists then. The first of them is the place of the
 * status here.
 */
export const replyLengths = {
  admitted: withWindows,
  /** To other windows than those that are shown. */
  admittedApart: withLease,
  replayed: withLease,
  denied: withWindows,
  missedBounds: withNow,
  settled: withWindows,
  late: withWindows,
  recovered: withWindows,
  duplicate: withWindows,
  unresolved: withWindows,
  /** The windows after a grant, or as they are. */
  current: withWindows,
  done: withNow,
  conflict: withNow,
  tooLarge: withNow,
  noSession: withNow,
  /** Of a top-up, that expires already. */
  tooEarly: withNow,
  tooManyLots: withNow,
  /**
   * No reply, but what goes before the next one: how many more numbers it has, and these: what the account has beside its
   * windows.
   */
  limits: withNow,
  /** Only some of many expired holds have ended. */
  again: withNow,
  /** Redis refused a command, or the script has an error. */
  failed: withNow,
} as const;

export type ReplyStatus = keyof typeof replyLengths;

export const replyStatuses = Object.keys(replyLengths) as readonly ReplyStatus[];

/** The numbers by which scripts return statuses. They stand in the scripts as such: variables would cost each run. */
export const replyCodes = Object.fromEntries(replyStatuses.map((status, code) => [status, code])) as Readonly<
  Record<ReplyStatus, number>
>;

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
