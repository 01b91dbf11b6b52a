import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import type { GatewayRequest } from "../../http/message.js";

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
