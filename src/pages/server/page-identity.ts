import { findWithin } from "../../access/store-lookup.js";
import { type GatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { TimeLimit } from "../../guard/time-limit.js";
import type { HostRequest } from "../../http/host-request.js";
import type { GatewayRequest } from "../../http/message.js";

/** How a page finds who a request is from. */
export interface IdentityRules<Identity> {
  readonly identify: (request: HostRequest) => unknown;
  /** @throws TypeError that says what does not fit, and never a value. */
  readonly check: (found: unknown) => Identity;
  /** Who it is, for what all share. */
  readonly ownerOf: (identity: Identity) => string;
  readonly limit: TimeLimit;
  readonly warn: Warn;
}

/**
 * @returns `undefined`: nobody is signed in.
 * @throws GatewayError 503, after a warning, when the host's code fails or what it found does not fit: a host's bug must not
 * become somebody else's account.
 */
export async function findIdentity<Identity>(
  request: GatewayRequest,
  { identify, check, limit, warn }: IdentityRules<Identity>,
): Promise<Identity | undefined> {
  const fail = (problem: string, cause?: unknown): GatewayError => {
    const message = `\`identify\` of a page ${problem}. The request got a 503.`;
    warn({ code: "identify_failed", message, ...(cause !== undefined && { cause }) });
    return serviceUnavailable("Sign-in cannot be checked at the moment. Try again shortly.");
  };
  const hostRequest = request.hostRequest?.();
  if (hostRequest === undefined) return undefined;
  const found = await findWithin(() => identify(hostRequest), limit, fail);
  if (found === undefined || found === null || found === false) return undefined;
  try {
    return check(found);
  } catch (cause) {
    // What a getter of the host's throws may hold secrets.
    const problem = cause instanceof TypeError ? cause.message.replace(/\s*\n\s*/g, " ") : "it cannot be read";
    throw fail(`found an identity that does not fit: ${problem}`, cause);
  }
}
