/** Its status and the store's now. */
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
