import type { GatewayError } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import { isError } from "../host-code/thrown.js";
import { redactKeys } from "../redaction/redact.js";
import type { AttemptTarget } from "./request-observer.js";

const longestText = 1000;

/** Line breaks and the like, by which a text could look like several entries of a log. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about control characters
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** What went wrong, for the operator: in the upstream's words where it gave some. Keys are taken out. */
export function attemptError({ cause, message }: GatewayError, { secrets }: AttemptTarget): string {
  const said = cause instanceof UpstreamStatusError ? cause.said : undefined;
  const ours = isError(cause) ? cause.message : message;
  const text = redactKeys(said === undefined || said === "" ? ours : `${ours} ${said}`, secrets);
  return text.replace(unprintable, " ").slice(0, longestText);
}
