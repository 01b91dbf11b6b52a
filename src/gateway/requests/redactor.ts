import * as z from "zod";
import type { LoggedRequest, LoggedTexts } from "../../books/requests/logged-request.js";
import { checkInput } from "../../check/check-input.js";
import type { Warn } from "../../events/warning.js";
import { returnedAtOnce } from "../../host-code/returned-at-once.js";
import type { KeepTexts } from "./request-log-options.js";

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
