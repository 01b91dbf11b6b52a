import type { Caller } from "../../access/caller.js";
import { findWithin } from "../../access/store-lookup.js";
import { type GatewayError, isGatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { TimeLimit } from "../../guard/time-limit.js";
import { requireSameOrigin } from "../../http/require-same-origin.js";
import { Calendar } from "../../ledger/windows.js";
import type { IdentifyCaller, SessionRequest } from "../../server/server-services.js";
import type { AccountTermsLookup, FoundTerms } from "../admin/account-terms.js";
import { refusedUnknownAccount } from "../refusals/refused-unknown-account.js";
import { UnknownAccountError } from "../refusals/unknown-account-error.js";
import { UnknownTermsError } from "../refusals/unknown-terms-error.js";
import { type CheckedIdentity, checkIdentity } from "./check-identity.js";
import type { Identify } from "./identity.js";
import { TermsComparison } from "./terms-comparison.js";

/** What of a gateway's options is about sessions of the host's. */
interface SessionOptions {
  readonly identify?: Identify | undefined;
  readonly origins?: readonly string[] | undefined;
}

/** What sessions are resolved with. */
export interface SessionServices {
  readonly terms: AccountTermsLookup;
  /** How long the host's own code may take. */
  readonly timeLimit: TimeLimit;
  readonly warn: Warn;
  readonly warnOnce: Warn;
}

const by = "identify";

/**
 * Finds callers by the host's own sessions. Asked for each request, and cached nowhere: who signs out is out.
 * @returns `undefined` where the host has no sessions for the gateway.
 */
export function sessionCallers(options: SessionOptions, services: SessionServices): IdentifyCaller | undefined {
  const { identify, origins } = options;
  if (identify === undefined) return undefined;
  const comparison = new TermsComparison(services);
  return async (request, requestId) => {
    const identity = await findIdentity(identify, request, requestId, services);
    if (identity === undefined) return undefined;
    requireSameOrigin(request, origins);
    const terms = await findTerms(identity, requestId, services);
    comparison.compare(identity, terms);
    return toCaller(identity, terms);
  };
}

/** @throws GatewayError 503, after a warning, when the host's code fails or what it found does not fit. */
async function findIdentity(
  identify: Identify,
  request: SessionRequest,
  requestId: string,
  { timeLimit, warn }: SessionServices,
): Promise<CheckedIdentity | undefined> {
  const fail = (problem: string, cause?: unknown): GatewayError => {
    const message = `\`identify\` ${problem}. The request got a 503.`;
    warn({ code: "identify_failed", message, requestId, ...(cause === undefined ? undefined : { cause }) });
    return serviceUnavailable(unchecked, cause);
  };
  const hostRequest = request.hostRequest?.();
  if (hostRequest === undefined) return undefined;
  const wasTaken = request.isBodyTaken;
  const found = await findWithin(() => identify(hostRequest), timeLimit, fail);
  if (found === undefined || found === null || found === false) return undefined;
  if (request.isBodyTaken && !wasTaken) {
    throw fail("has read the request's body, which the gateway needs. Read it from what a body parser made of it");
  }
  try {
    return checkIdentity(found);
  } catch (cause) {
    // The texts of a check name members and rules, never a value.
    throw fail(`found an identity that does not fit: ${(cause as Error).message.replace(/\s*\n\s*/g, " ")}`, cause);
  }
}

const unchecked = "Sessions cannot be checked at the moment. Try again shortly.";

/** @throws GatewayError, after a warning, when the plan or the anchor cannot be found: 403 where there is no such account, else 503. */
async function findTerms(
  identity: CheckedIdentity,
  requestId: string,
  { terms, timeLimit, warn, warnOnce }: SessionServices,
): Promise<FoundTerms> {
  const { account, plan, anchor } = identity;
  if (plan !== undefined && anchor !== undefined) return { plan, anchor };
  return await findWithin(
    () => terms.find(by, account, identity),
    timeLimit,
    (problem, cause) => {
      // An account store that fails has caused its warning already.
      if (isGatewayError(cause)) return cause;
      if (cause instanceof UnknownAccountError) return refusedUnknownAccount(cause, account, warnOnce);
      if (cause instanceof UnknownTermsError) {
        const message = `The account "${account}" is signed in, but its terms are not known. ${cause.message}`;
        warnOnce({ code: "identify_failed", message, cause, requestId });
      } else {
        const message = `The key store ${problem}. Signed-in callers get a 503 until it is fixed.`;
        warn({ code: "key_store_failed", message, cause, requestId });
      }
      return serviceUnavailable(unchecked, cause);
    },
  );
}

function toCaller({ account, tags }: CheckedIdentity, { plan, anchor }: FoundTerms): Caller {
  return {
    source: "session",
    keyId: undefined,
    filedUnder: "session",
    account,
    plan,
    refusedFrom: Infinity,
    calendar: new Calendar(anchor ?? undefined),
    tags: tags ?? undefined,
    models: undefined,
  };
}
