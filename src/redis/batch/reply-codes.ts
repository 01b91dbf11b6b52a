import { type ReplyStatus, replyStatuses } from "./reply-lengths.js";

/** The numbers by which scripts return statuses. They stand in the scripts as such: variables would cost each run. */
export const replyCodes = Object.fromEntries(replyStatuses.map((status, code) => [status, code])) as Readonly<
  Record<ReplyStatus, number>
>;
