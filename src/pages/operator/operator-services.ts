import * as z from "zod";
import { type AuditAuthor, longestAuthor } from "../../audit/checked-audit-trail.js";
import { checkInput } from "../../check/check-input.js";
import { freeText, idText } from "../../check/text-schemas.js";
import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { GatewayRequest } from "../../http/message.js";
import type { Clock } from "../../ledger/calendar.js";
import type { LiveRequests } from "../../observe/live-requests.js";

/** Who reads the operator's page. */
export interface OperatorIdentity {
  /** What the audit trail calls them, such as a mail address; at most 128 characters. */
  operator: string;
  /** The language of the person, such as `de-AT` (BCP 47). Default: English. */
  locale?: string | undefined;
}

const schema = z.object({
  operator: idText(longestAuthor).refine((text) => !/^(?:undefined|null|NaN|\[object \w+\])$/.test(text), {
    error: 'is the text of a missing value, such as "undefined"',
  }),
  locale: z
    .string()
    .regex(/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i)
    .optional()
    .catch(undefined),
});

/** @throws TypeError that says what does not fit. */
export function checkOperator(found: unknown): z.output<typeof schema> {
  return checkInput("identify", schema, found);
}

/** An identity of which the check has been made. */
export type Operator = ReturnType<typeof checkOperator>;

/** What the routes of the operator's page work with. */
export interface OperatorServices {
  readonly gateway: Gateway;
  readonly clock: Clock;
  /** `undefined`: the page lists no live requests. */
  readonly live: LiveRequests | undefined;
  readonly readOnly: boolean;
}

/** The query of what has an id. */
export const idQuery = z.strictObject({ id: idText() });

/** Why a change is made. */
export const noteShape = { note: freeText(1000).optional() };

/** How much of a list is asked for. */
export function pageShape(most: number, usual = 50) {
  return { cursor: z.string().max(2000).optional(), limit: z.coerce.number().int().min(1).max(most).default(usual) };
}

/** How the audit trail names an operator. */
export function operatorAuthor(
  { operator: by }: Operator,
  { note }: { readonly note?: string | undefined },
): AuditAuthor {
  return note === undefined || note.trim() === "" ? { by } : { by, note: note.trim() };
}

/** What stands for itself, or `null`. */
export function orNull<Value>(value: Value | undefined): Value | null {
  return value ?? null;
}

/**
 * The version that a change was made of, by the request's `if-match`. `null`: there must be nothing yet, by
 * `if-none-match: *`. `undefined`: the request says neither.
 * @throws GatewayError 400 for a condition that is not understood: without it, what is not as it was read would be changed.
 */
export function namedVersion(request: Pick<GatewayRequest, "header">): string | null | undefined {
  const [isNew, isAs] = [request.header("if-none-match")?.trim(), request.header("if-match")?.trim()];
  if (isNew === undefined && isAs === undefined) return undefined;
  if (isNew === "*" && isAs === undefined) return null;
  const [, version] = /^"([^"]{1,200})"$/.exec(isAs ?? "") ?? [];
  if (version !== undefined && isNew === undefined) return version;
  throw invalidValue(null, 'Send either `if-match: "…"` with the version that was read, or `if-none-match: *`.');
}

/** @throws GatewayError 428 when the request does not say which version it changes. */
export function requiredVersion(request: Pick<GatewayRequest, "header">): string | null {
  const version = namedVersion(request);
  if (version !== undefined) return version;
  throw new GatewayError('Send `if-match: "…"` with the version that was read, or `if-none-match: *` for a new one.', {
    status: 428,
    code: "precondition_required",
  });
}

/** @throws GatewayError 412 when it is not, or no more, as it was expected. */
export async function unlessChanged<Result>(change: () => Promise<Result>): Promise<Result> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof Error && conflicts.includes(error.name)) throw versionMismatch();
    throw error;
  }
}

export function versionMismatch(): GatewayError {
  return new GatewayError("Somebody else has changed it since you read it. Load it again.", {
    status: 412,
    code: "version_mismatch",
  });
}

/** By name, since they may come from another copy of the package. */
const conflicts = ["AccountConflictError", "ModelConflictError"];
