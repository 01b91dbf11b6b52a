import * as z from "zod";
import { checkInput } from "../../check/check-input.js";
import { having } from "../../check/text-schemas.js";
import type { Warn } from "../../events/warning.js";
import type { LoggedRequest, LoggedTexts, RequestLog } from "../../request-log/request-log.js";
import { returnedAtOnce } from "../../runtime/host-code.js";

/** What is left of a line's texts. What is `undefined` is not kept. */
export type RedactedTexts = { readonly [Name in keyof LoggedTexts]?: string | undefined };

/** What a request log keeps of texts. */
export interface KeepTexts {
  /** The most characters of a request, and of an answer, 1 to 65,536. Default: 4,096. */
  maxCharacters?: number | undefined;
  /**
   * Decides what of them is kept, such as without what is personal. `undefined`: nothing. It must return at once; what it throws
   * keeps nothing, and causes a warning `hook_failed`. Default: they are kept as they are.
   */
  redact?: ((texts: LoggedTexts, line: LoggedRequest) => RedactedTexts | undefined) | undefined;
}

/** A request log, and how it is written. */
export interface RequestLogOptions {
  /** One of the stores' `requestLog`, or your own. */
  store: RequestLog;
  /** How many lines may wait to be written; beyond it they are dropped. Default: 10,000. */
  maxQueuedRows?: number | undefined;
  /** How many bytes of lines may wait to be written, about; beyond it they are dropped. Default: 33,554,432, which is 32 MiB. */
  maxQueuedBytes?: number | undefined;
  /**
   * Keeps the beginnings of what calls are asked and answered, for {@link ManagedRequests.get} alone. `true`: with the defaults.
   * Default: nothing of them is kept.
   */
  keepTexts?: boolean | KeepTexts | undefined;
}

const store = having<RequestLog>("a request log, such as memoryRequestLog()", [
  "write",
  "list",
  "get",
  "counts",
  "forget",
]);
const whole = z.number().int().positive();
const keepTexts = z.strictObject({
  maxCharacters: whole.max(65_536).default(4_096),
  redact: z
    .custom<NonNullable<KeepTexts["redact"]>>((given) => typeof given === "function", "must be a function")
    .optional(),
});
const members = z.strictObject({
  store,
  maxQueuedRows: whole.default(10_000),
  maxQueuedBytes: whole.default(32 * 1024 * 1024),
  keepTexts: z.preprocess((given) => (given === true ? {} : given === false ? undefined : given), keepTexts.optional()),
});

/** A store, or one with options. */
export const requestLogSchema = z
  .preprocess((given) => (isOptions(given) ? given : { store: given }), members)
  .optional();

function isOptions(given: unknown): boolean {
  return typeof given === "object" && given !== null && "store" in given && !("write" in given);
}

/** What of the texts a line keeps; `undefined`: nothing. Never throws. */
export type Redact = (texts: LoggedTexts, line: LoggedRequest) => LoggedTexts | undefined;

/** The host's redaction. What it fails at is not kept. */
export function redactor(
  { maxCharacters, redact }: KeepTexts & { readonly maxCharacters: number },
  warn: Warn,
): Redact {
  if (redact === undefined) return (texts) => texts;
  const text = z.string().transform((kept) => kept.slice(0, maxCharacters).toWellFormed());
  const answered = z.strictObject({ request: text.optional(), answer: text.optional() });
  return (texts, line) => {
    const failed = (cause: unknown): void => {
      const message = "keepTexts.redact of the request log failed. The texts of the request are not kept.";
      warn({ code: "hook_failed", message, cause, requestId: line.requestId });
    };
    try {
      // The line is the gateway's own, and goes on to the store.
      const given = returnedAtOnce("keepTexts.redact", redact(texts, structuredClone(line)), failed);
      if (given === undefined) return undefined;
      const { request, answer } = checkInput("keepTexts.redact", answered, given);
      if (request === undefined && answer === undefined) return undefined;
      return { ...(request !== undefined && { request }), ...(answer !== undefined && { answer }) };
    } catch (cause) {
      failed(cause);
      return undefined;
    }
  };
}
