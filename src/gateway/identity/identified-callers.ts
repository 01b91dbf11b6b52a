import type { Caller } from "../../access/caller.js";
import { findWithin } from "../../access/store-lookup.js";
import { type GatewayError, isGatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import {
  NodeHostRequest,
  type NodeRequestHead,
  type TrustingRequest,
  WebHostRequest,
} from "../../http/host-request.js";
import { requireSameOrigin } from "../../http/origin.js";
import { Calendar } from "../../ledger/calendar.js";
import type { TimeLimit } from "../../ledger/guard/time-limit.js";
import type { IdentifyCaller, ServerServices, SessionRequest } from "../../server/server-services.js";
import type { AccountTermsLookup, FoundTerms, GivenTerms } from "../admin/account-terms.js";
import { refusedUnknownAccount, UnknownAccountError, UnknownTermsError } from "../admin/errors.js";
import type { InProcessCaller } from "../in-process/in-process.js";
import { type CheckedIdentity, checkIdentity, type Identify } from "./identity.js";

/** What of a gateway's options is about sessions of the host's. */
interface SessionOptions {
  readonly identify?: Identify | undefined;
  readonly origins?: readonly string[] | undefined;
  /** How many proxies of the host's own stand before it. */
  readonly trustProxy: number;
}

/** What sessions are resolved with. */
interface SessionServices {
  readonly terms: AccountTermsLookup;
  /** How long the host's own code may take. */
  readonly timeLimit: TimeLimit;
  readonly warn: Warn;
  readonly warnOnce: Warn;
}

/** What finds who a request is from, and how many proxies stand before it. */
type IdentityServices = Pick<SessionServices, "timeLimit" | "warn"> & { readonly trustProxy: number };

const by = "identify";

/**
 * Finds callers by the host's own sessions. Asked for each request, and cached nowhere: who signs out is out.
 * @returns `undefined` where the host has no sessions for the gateway.
 */
export function sessionCallers(options: SessionOptions, services: SessionServices): IdentifyCaller | undefined {
  const { identify, origins, trustProxy } = options;
  if (identify === undefined) return undefined;
  const comparison = new TermsComparison(services);
  return async (request, requestId) => {
    const identity = await findIdentity(identify, request, requestId, { ...services, trustProxy });
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
  { timeLimit, warn, trustProxy }: IdentityServices,
): Promise<CheckedIdentity | undefined> {
  const fail = (problem: string, cause?: unknown): GatewayError => {
    const message = `\`identify\` ${problem}. The request got a 503.`;
    warn({ code: "identify_failed", message, requestId, ...(cause === undefined ? undefined : { cause }) });
    return serviceUnavailable(unchecked, cause);
  };
  const hostRequest = request.hostRequest?.();
  if (hostRequest === undefined) return undefined;
  const wasTaken = request.isBodyTaken;
  hostRequest.trustedProxies = trustProxy;
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

/** A request of a route of the host's own: web-standard, or Node's, such as Express' and Fastify's. */
export type OwnRequest = Request | NodeRequestHead;

/**
 * Finds who a request is from that the gateway does not serve, by the rules of those that it does: the account's record
 * counts, who is suspended is refused, and so are other origins. A key that the request brings is not read.
 * @throws GatewayError as a rejection, of the response that the gateway would give; TypeError where there is no `identify`.
 */
export async function callerOfRequest(services: ServerServices, request: OwnRequest): Promise<InProcessCaller | null> {
  const { identifyCaller, resolveCaller, calls } = services;
  if (identifyCaller === undefined) {
    throw new TypeError("gateway.caller: the gateway has no `identify`, which finds who a request is from.");
  }
  if (calls.openCalls.isClosing) throw serviceUnavailable("The gateway is shutting down. Try again shortly.");
  const identified = await identifyCaller(toSessionRequest(request), calls.requestIds.next());
  if (identified === undefined) return null;
  const { account, filedUnder: key, plan, calendar, tags } = await resolveCaller(identified);
  return { account, plan, anchor: calendar.anchor ?? null, tags, key };
}

/** The body is the host's own: whatever `identify` reads of it, the gateway lacks nothing. */
function toSessionRequest(request: OwnRequest): SessionRequest {
  const host = toHostRequest(request);
  // HTTP/2 has the host under this name (RFC 9113, section 8.3.1), which no header of HTTP/1 can have.
  const authority = isWeb(request) ? undefined : request.headers[":authority"];
  const header = (name: string) => (name === "host" && authority ? String(authority) : host.header(name));
  return { method: host.method, header, hostRequest: () => host };
}

function toHostRequest(request: OwnRequest): TrustingRequest {
  return isWeb(request) ? new WholeRequest(request) : new NodeHostRequest(request, request);
}

/** One whose body nobody else needs. */
class WholeRequest extends WebHostRequest {
  readonly #whole: Request;

  constructor(request: Request) {
    super(request);
    this.#whole = request;
  }

  override get raw(): Request {
    return this.#whole;
  }
}

function isWeb(request: OwnRequest): request is Request {
  return typeof request.headers?.get === "function";
}

interface ComparisonServices {
  readonly terms: AccountTermsLookup;
  readonly timeLimit: TimeLimit;
  readonly warnOnce: Warn;
}

/** The most accounts to remember as compared. The ones that came first are forgotten, and compared again. */
const mostRemembered = 10_000;

/**
 * Compares the plan and anchor that a session gives an account with those of its record, which count in place of them.
 * For an account without a record, with those of its API keys: where these differ, the account has two limits, or two
 * sets of windows, by how it calls.
 *
 * An account is compared once for each plan and anchor that its sessions give it. No request waits for it.
 */
export class TermsComparison {
  readonly #services: ComparisonServices;
  readonly #compared = new Set<string>();

  constructor(services: ComparisonServices) {
    this.#services = services;
  }

  /** @param given - what the session itself says; the rest of `terms` is from the keys already. */
  compare({ account, plan, anchor }: GivenTerms & { readonly account: string }, terms: FoundTerms): void {
    if (plan === undefined && anchor === undefined) return;
    const name = JSON.stringify([account, terms.plan, terms.anchor]);
    if (this.#compared.has(name)) return;
    this.#remember(name);
    this.#warnIfDiffering(account, terms).catch(() => {
      // The key store failed. Another request may find it well.
      this.#compared.delete(name);
    });
  }

  #remember(name: string): void {
    const [first] = this.#compared;
    if (first !== undefined && this.#compared.size >= mostRemembered) this.#compared.delete(first);
    this.#compared.add(name);
  }

  async #warnIfDiffering(account: string, { plan, anchor }: FoundTerms): Promise<void> {
    const { terms, timeLimit, warnOnce } = this.#services;
    const record = await timeLimit.race(terms.ofRecord(account));
    const others = record === undefined ? await timeLimit.race(terms.ofEachKey(account)) : [record];
    const differing = [
      ...(others.some((other) => other.plan !== undefined && other.plan !== plan) ? ["plan"] : []),
      ...(others.some((other) => other.anchor !== anchor) ? ["anchor"] : []),
    ];
    if (differing.length === 0) return;
    const given = `\`identify\` gives the account "${account}" another ${differing.join(" and another ")} than`;
    const message =
      record === undefined
        ? `${given} its API keys have. Its credits are then counted in two ways. Give both the same, or leave \`plan\` ` +
          "and `anchor` out of the identity."
        : `${given} its record has. The record counts. Leave \`plan\` and \`anchor\` out of the identity, or change the ` +
          "record with gateway.accounts.update.";
    warnOnce({ code: "terms_differ", message });
  }
}
