import * as z from "zod";
import type { RequestLog } from "../../books/requests/request-log.js";
import { having } from "../../check/having.js";

/** A request log, and how it is written. */
export interface RequestLogOptions {
  /** One of the stores' `requestLog`, or your own. */
  store: RequestLog;
  /** How many lines may wait to be written; beyond it they are dropped. Default: 10,000. */
  maxQueuedRows?: number | undefined;
  /** How many bytes of lines may wait to be written, about; beyond it they are dropped. Default: 33,554,432, which is 32 MiB. */
  maxQueuedBytes?: number | undefined;
}

const store = having<RequestLog>("a request log, such as memoryRequestLog()", [
  "write",
  "list",
  "get",
  "counts",
  "forget",
]);
const whole = z.number().int().positive();
const members = z.strictObject({
  store,
  maxQueuedRows: whole.default(10_000),
  maxQueuedBytes: whole.default(32 * 1024 * 1024),
});

/** A store, or one with options. */
export const requestLogSchema = z
  .preprocess((given) => (isOptions(given) ? given : { store: given }), members)
  .optional();

function isOptions(given: unknown): boolean {
  return typeof given === "object" && given !== null && "store" in given && !("write" in given);
}
