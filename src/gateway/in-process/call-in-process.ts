import { Buffer } from "node:buffer";
import * as z from "zod";
import type { Caller } from "../../access/caller.js";
import { ownCounters } from "../../access/counter-name.js";
import { ModelPatterns } from "../../access/model-patterns.js";
import { RateRules } from "../../access/rate-rules.js";
import { checkInput } from "../../check/check-input.js";
import { ratesSchema } from "../../check/limit-schemas.js";
import { idText } from "../../check/text-schemas.js";
import {
  type ErrorObject,
  GatewayError,
  invalidValue,
  isGatewayError,
  serviceUnavailable,
} from "../../errors/gateway-error.js";
import { Calendar } from "../../ledger/calendar.js";
import type { TimeLimit } from "../../ledger/guard/time-limit.js";
import { sharedTags } from "../../prices/tags.js";
import { keyAccount, keyModels, keyTags, wholeInstant } from "../../records/keys/check-key.js";
import { serve } from "../../server/serve.js";
import type { ServerServices } from "../../server/server-services.js";
import type { UsageReport } from "../../server/usage-report.js";
import type { AccountTermsLookup, FoundTerms, GivenTerms } from "../admin/account-terms.js";
import { refusedUnknownAccount, UnknownAccountError, UnknownTermsError } from "../admin/errors.js";
import { requireLimitsKept } from "../admin/method-checks.js";
import { toWebResponse } from "../web-bridge.js";
import { type RequestParts, type RequestTarget, WebRequest } from "../web-request.js";
import type { InProcess, InProcessCaller } from "./in-process.js";

const callerInput = z.strictObject({
  account: keyAccount,
  plan: idText().optional(),
  anchor: wholeInstant,
  models: keyModels,
  key: idText().default("server"),
  tags: keyTags,
  name: z.unknown().optional(),
  locale: z.unknown().optional(),
  rates: ratesSchema,
  signal: z.instanceof(AbortSignal, { error: "must be an AbortSignal" }).optional(),
});

/** What calls in process work with. */
interface InProcessServices {
  readonly server: ServerServices;
  readonly terms: AccountTermsLookup;
  readonly maxStallMs: number;
  /** How long the stores may take. */
  readonly timeLimit: TimeLimit;
  /** Makes a response whose body is there at once. */
  readonly makeWhole: (body: Uint8Array | string, init: ResponseInit) => Response;
}

const by = "gateway.as";

/** @throws TypeError when what is given is not valid. */
export function callInProcess(services: InProcessServices, given: InProcessCaller): InProcess {
  const { server, maxStallMs, makeWhole } = services;
  const { signal, ...identity } = checkInput(by, callerInput, given);
  const { account, plan, anchor, rates } = identity;
  requireLimitsKept(by, server.calls.ledger, "the caller", { rates });
  const isKnown = plan !== undefined && anchor !== undefined;
  const known = isKnown ? giving(toCaller(identity, { plan, anchor })) : undefined;
  const findCaller = async () => {
    const found = await findTerms(account, identity, services);
    return isGatewayError(found) ? refusing(found) : giving(toCaller(identity, found));
  };

  const respond = async ({ target, parts }: InProcessRequest): Promise<Response> => {
    const ownCaller = known ?? (await findCaller());
    const request = new WebRequest(parts, target);
    const response = await serve(server, request, ownCaller);
    return toWebResponse(response, request, { maxStallMs, ended: parts.signal, makeWhole });
  };
  const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    try {
      const request = toInProcessRequest(input, init, signal);
      const ended = request.parts.signal;
      ended?.throwIfAborted();
      return ended ? unlessAborted(respond(request), ended) : respond(request);
    } catch (error) {
      return Promise.reject(error);
    }
  };
  return {
    baseURL: inProcessURL,
    fetch,
    async usage() {
      const response = await fetch(`${inProcessURL}/usage`);
      const said = (await response.json()) as UsageReport & { error: ErrorObject };
      if (response.ok) return said;
      const { message, code, type, param } = said.error;
      const options = { status: response.status, code: code ?? "internal_error", type, param };
      throw new GatewayError(`gateway.as().usage: ${message}`, options);
    },
  };
}

/** How {@link serve} gets a caller. */
type OwnCaller = () => Caller;

function giving(caller: Caller): OwnCaller {
  return () => caller;
}

function refusing(error: GatewayError): OwnCaller {
  return () => {
    throw error;
  };
}

/** @returns the error of the response where the terms are not known, or a store fails or takes too long. */
async function findTerms(
  account: string,
  given: GivenTerms,
  { server, terms, timeLimit }: InProcessServices,
): Promise<FoundTerms | GatewayError> {
  try {
    return await timeLimit.race(terms.find(by, account, given));
  } catch (cause) {
    // An account store that fails has caused its warning already.
    if (isGatewayError(cause)) return cause;
    if (cause instanceof UnknownTermsError) return unknownTerms(cause, account, server);
    const message = "The key store failed. Calls by gateway.as() without a plan get a 503 until it is fixed.";
    server.calls.warn({ code: "key_store_failed", message, cause });
    return serviceUnavailable("The account's plan cannot be found at the moment. Try again shortly.", cause);
  }
}

/** SDKs call what their `fetch` throws a broken connection, and try again. Only the host's own code can read the message. */
function unknownTerms(cause: UnknownTermsError, account: string, { calls }: ServerServices): GatewayError {
  if (!(cause instanceof UnknownAccountError)) return invalidValue(null, cause.message);
  return refusedUnknownAccount(cause, account, calls.warnOnce);
}

function toCaller(
  { account, models, key, tags, rates }: Omit<z.output<typeof callerInput>, "signal">,
  { plan, anchor }: { plan: string; anchor: number | null },
): Caller {
  return {
    source: "in_process",
    keyId: undefined,
    filedUnder: key,
    account,
    plan,
    refusedFrom: Infinity,
    calendar: new Calendar(anchor ?? undefined),
    tags: sharedTags(tags),
    rates: RateRules.of({ owner: "caller", counters: ownCounters("caller", key) }, rates),
    models: models === undefined || models === null ? undefined : new ModelPatterns(models),
  };
}

/** A host that no name server knows (RFC 6761, section 6.4): a real request to it would fail. */
const origin = "http://infergate.invalid";

/** The base URL of calls in process. */
export const inProcessURL: string = `${origin}/v1`;

/** A call of `fetch`, as the gateway reads it. */
interface InProcessRequest {
  readonly target: RequestTarget;
  readonly parts: RequestParts;
}

/**
 * What the gateway reads of a call of `fetch`. Of a text or bytes no `Request` is made.
 * @param ended - ends the call beside the signal that it brings.
 * @throws TypeError for a URL of another host, and for what no `fetch` takes.
 */
export function toInProcessRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
  ended: AbortSignal | undefined,
): InProcessRequest {
  if (input instanceof Request) {
    const request = init === undefined ? input : new Request(input, init);
    const { url, method, body, bodyUsed, headers, signal } = request;
    const either = ended === undefined ? signal : AbortSignal.any([signal, ended]);
    return {
      target: targetOf(url),
      parts: { method, headers: new Headers(headers), signal: either, body, bodyUsed },
    };
  }
  const target = targetOf(String(input));
  const { method = "GET", body, signal } = init ?? {};
  const { bytes, type } = readBody(body);
  return {
    target,
    parts: {
      method: method.toUpperCase(),
      headers: headersOf(init?.headers, type),
      signal: signal && ended ? AbortSignal.any([signal, ended]) : (signal ?? ended),
      body: bytes,
      bodyUsed: false,
    },
  };
}

/** A path that a URL parser leaves as it is. */
const plainPath = /^\/[\w/]*$/;

function targetOf(url: string): RequestTarget {
  if (url.startsWith(origin)) {
    const path = url.slice(origin.length);
    if (plainPath.test(path)) return { path, query: "" };
  }
  const { origin: found, pathname, search } = new URL(url);
  if (found === origin) return { path: pathname, query: search.slice(1) };
  throw new TypeError(`This fetch reaches the gateway alone. Send requests to ${inProcessURL}, not to ${found}.`);
}

/** A body, and its content type where no header says one. */
interface ReadBody {
  readonly bytes: RequestParts["body"];
  readonly type: string | null;
}

function readBody(body: RequestInit["body"]): ReadBody {
  if (body === undefined || body === null) return { bytes: null, type: null };
  if (typeof body === "string") return { bytes: Buffer.from(body), type: "text/plain;charset=UTF-8" };
  // Its owner may write into it while the call waits.
  if (body instanceof Uint8Array) return { bytes: Buffer.from(body), type: null };
  const { body: bytes, headers } = new Response(body);
  return { bytes, type: headers.get("content-type") };
}

/** A copy: whoever calls may change their headers while the call waits. */
function headersOf(sent: RequestInit["headers"], type: string | null): RequestParts["headers"] {
  const headers = new Headers(sent);
  return { get: (name) => headers.get(name) ?? (name === "content-type" ? type : null) };
}

/**
 * The response, unless the signal is aborted before it is there. A response that comes later is read no more.
 * Rejects with the signal's reason.
 */
function unlessAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const stop = () => signal.removeEventListener("abort", abort);
    response.then(
      (come) => {
        stop();
        if (!signal.aborted) {
          resolve(come);
          return;
        }
        reject(signal.reason);
        come.body?.cancel().catch(() => {});
      },
      (thrown: unknown) => {
        stop();
        reject(thrown);
      },
    );
  });
}
