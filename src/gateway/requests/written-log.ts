import type { RequestLog } from "../../books/requests/request-log.js";
import type { Warn } from "../../events/warning.js";
import type { TimeLimit } from "../../guard/time-limit.js";
import type { Clock } from "../../ledger/clock.js";
import type { ResolvedOptions } from "../options.js";
import { redactor } from "./redactor.js";
import { RequestLogWriter } from "./request-log-writer.js";

/** The log of the options, and what writes it. */
export interface WrittenLog {
  readonly store: RequestLog;
  readonly writer: RequestLogWriter;
  /** How much of texts a line keeps; 0: nothing. */
  readonly maxTextCharacters: number;
  /** For so long a reader waits for what this process has noted. */
  readonly timeLimit: TimeLimit;
}

/** @returns `undefined` where requests are not logged. */
export function writtenLog(
  { requestLog, isolate }: ResolvedOptions,
  clock: Clock,
  { timeLimit, warn }: Pick<WrittenLog, "timeLimit"> & { readonly warn: Warn },
): WrittenLog | undefined {
  if (requestLog === undefined) return undefined;
  const { store, maxQueuedRows: maxRows, maxQueuedBytes: maxBytes, keepTexts } = requestLog;
  const redact = keepTexts && redactor(keepTexts, warn);
  const writer = new RequestLogWriter({ store, maxRows, maxBytes, warn, clock, isolate, redact });
  return { store, timeLimit, writer, maxTextCharacters: keepTexts?.maxCharacters ?? 0 };
}
