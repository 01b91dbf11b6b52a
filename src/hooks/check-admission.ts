import * as z from "zod";
import { checkInput } from "../check/check-input.js";
import { tagsInput } from "../check/text-schemas.js";
import { type GatewayError, isGatewayError } from "../errors/gateway-error.js";
import { meantDimension, type Tags } from "../prices/tags.js";
import { isOwnedMember } from "../protocols/operations.js";
import { isCredentialHeader, isHeaderName, isHeaderValue } from "../providers/headers.js";
import type { MemberEdits } from "../wire/json-members.js";

/** What a hook has answered, checked. */
export interface CheckedAdmission {
  readonly tags: Tags | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** For the upstream's request. */
  readonly members: MemberEdits | undefined;
  /** New texts by their paths. */
  readonly texts: ReadonlyMap<string, string> | undefined;
  /** Names of targets. */
  readonly targets: readonly string[] | undefined;
}

const headers = z
  .record(z.string(), z.string({ error: "must be a string" }))
  .superRefine((given, context) => {
    for (const [name, value] of Object.entries(given)) {
      const problem = headerProblem(name, value);
      if (problem !== undefined) context.addIssue({ code: "custom", path: [name.slice(0, 100)], message: problem });
    }
  })
  .transform((given) => Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])));

const members = z.record(z.string(), z.unknown()).transform((given, context) => {
  const edits: MemberEdits = new Map();
  for (const [name, value] of Object.entries(given)) {
    const json = JSON.stringify(value) as string | undefined;
    const isOwned = isOwnedMember(name);
    if (json !== undefined && !isOwned) {
      edits.set(name, json);
      continue;
    }
    const message = isOwned ? "is set by the gateway itself" : "must be a JSON value";
    context.addIssue({ code: "custom", path: [name.slice(0, 100)], message });
  }
  return edits;
});

const texts = z.array(z.strictObject({ path: z.string(), text: z.string() })).transform((edits, context) => {
  const byPath = new Map<string, string>();
  for (const [index, { path, text }] of edits.entries()) {
    if (byPath.has(path)) context.addIssue({ code: "custom", path: [index], message: "repeats the path of another" });
    byPath.set(path, text);
  }
  return byPath;
});

const admissionInput = z.strictObject({
  tags: tagsInput(meantDimension).optional(),
  upstream: z.strictObject({ headers: headers.optional(), set: members.optional() }).optional(),
  texts: texts.optional(),
  targets: z.array(z.string()).min(1, "must name at least one target").max(100).readonly().optional(),
});

/**
 * Checks what `onRequest` has answered.
 * @returns `undefined` where it changes nothing.
 * @throws TypeError that lists what to fix.
 */
export function checkAdmission(answer: unknown): CheckedAdmission | undefined {
  if (answer === undefined) return undefined;
  const { tags, upstream, texts: edits, targets } = checkInput("onRequest", admissionInput, answer);
  return { tags, headers: upstream?.headers, members: upstream?.set, texts: edits, targets };
}

/** Why the host's code may not send this header to a model server; `undefined`: it may. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!isHeaderName(name)) return "is no name of a header";
  if (isOwnedHeader(name)) return "is set by the gateway itself";
  return isHeaderValue(value) ? undefined : "must be visible ASCII, with spaces inside only";
}

/** What describes the body, chooses the response's format, or belongs to the connection (RFC 9110, section 7.6). */
const transport: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "date",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "max-forwards",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
]);

/** Whether the host's hook must leave a header to the gateway and its transport. */
function isOwnedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  if (isCredentialHeader(lower) || transport.has(lower)) return true;
  return lower.startsWith("content-") || lower.startsWith("proxy-");
}

/** Whether the client gets the error that a hook has thrown, as it is. A hook may throw anything. */
export function isFinalError(thrown: unknown): thrown is GatewayError {
  try {
    if (!isGatewayError(thrown)) return false;
    const { message, status, code, type, param, headers } = thrown;
    const texts: unknown[] = [message, code, type];
    return (
      Number.isInteger(status) &&
      status >= 400 &&
      status <= 599 &&
      texts.every((text) => typeof text === "string") &&
      (param === null || typeof param === "string") &&
      Object.entries(headers).every(([name, value]) => isHeaderName(name) && isHeaderValue(value))
    );
  } catch {
    return false;
  }
}
