import { findKey, requireKnown, requireValid } from "../access/authenticate.js";
import { authorize, mayUse } from "../access/authorize.js";
import type { Lookup } from "../access/cached-lookup.js";
import type { Caller, IdentifiedCaller } from "../access/caller.js";
import type { ResolveCaller } from "../access/caller-resolver.js";
import type { KeyUses } from "../access/key-uses.js";
import { callModel } from "../call/call-model.js";
import type { CallServices } from "../call/call-services.js";
import { makeRequestId } from "../call/request-id.js";
import { andThen, type Soon } from "../call/soon.js";
import { GatewayError, internalError, isGatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import { RepeatedError, type WrittenError } from "../errors/repeated-error.js";
import { noObserver, type ObserveRequest, type RequestObserver } from "../events/request-observer.js";
import { type CorsOptions, corsHeaders, preflightHeaders } from "../http/cors.js";
import { type GatewayRequest, type GatewayResponse, isBodyError, type RequestHead } from "../http/message.js";
import { type BodyOptions, bodyFailure } from "../http/read-body.js";
import { anthropicProtocol } from "../operations/protocols/anthropic-protocol.js";
import type { ClientProtocol } from "../operations/protocols/client-protocol.js";
import { openAIProtocol } from "../operations/protocols/openai-protocol.js";
import { protocolOfClient } from "../operations/protocols/protocol-of-client.js";
import { sendsCredential } from "../operations/protocols/sends-credential.js";
import { deleteKeptResponse } from "../operations/responses/kept-responses.js";
import type { AccountPace } from "./account-pace.js";
import { countTokens } from "./count-tokens.js";
import { hostRequestId } from "./host-request-id.js";
import { misplacedPath } from "./misplaced-path.js";
import { matchPath, type Path } from "./paths.js";
import { readKept } from "./read-kept.js";
import type { Readiness } from "./readiness.js";
import { reportUsage } from "./report-usage.js";
import { unservedPath } from "./unserved-path.js";

/** What all requests use. Made once for each gateway. */
export interface ServerServices {
  readonly calls: CallServices;
  readonly findCaller: Lookup<IdentifiedCaller>;
  /** Of the keys that the gateway makes. */
  readonly keyPrefix: string;
  /** Keeps when keys were used. Absent: the key store cannot. */
  readonly keyUses: KeyUses | undefined;
  /** Finds who a request without an API key is from. Absent: such requests are refused. */
  readonly identifyCaller: IdentifyCaller | undefined;
  /** Gives callers the terms of their accounts. */
  readonly resolveCaller: ResolveCaller;
  readonly observe: ObserveRequest;
  readonly cors: CorsOptions | undefined;
  /** How often accounts may have tokens counted, which is free of charge. */
  readonly countPace: AccountPace;
  /** How often accounts may read kept responses, which is free of charge. */
  readonly readPace: AccountPace;
  readonly readiness: Readiness;
  /** Gives the host's own id of a request. */
  readonly requestIdOf: ((request: RequestHead) => string | undefined) | undefined;
}

/** @returns `undefined` when the host does not know the request either. Rejects with a 403 or a 503. */
export type IdentifyCaller = (request: GatewayRequest, requestId: string) => Promise<Caller | undefined>;

/** A response, or the error that becomes one: those that many requests get are not thrown, which takes microseconds. */
type Made = GatewayResponse | GatewayError;

/** One request while it is being served. */
interface Served {
  readonly services: ServerServices;
  readonly requestId: string;
  /** Unique, whatever ids the host gives. */
  readonly callId: string;
  readonly request: GatewayRequest;
  readonly path: Path | undefined;
  readonly observer: RequestObserver;
  /** Given by the host's own code: then no key is read, and no session. */
  readonly findOwnCaller: (() => IdentifiedCaller) | undefined;
}

/**
 * Serves a request: finds the path, authenticates, and runs the endpoint. Never rejects.
 * @param findOwnCaller - gives the caller of the host's own code, or throws a GatewayError for its response.
 */
export function serve(
  services: ServerServices,
  request: GatewayRequest,
  findOwnCaller?: () => IdentifiedCaller,
): Promise<GatewayResponse> {
  const path = matchPath(request.path);
  const callId = makeRequestId();
  const { requestIdOf, calls } = services;
  const requestId = (requestIdOf && hostRequestId(requestIdOf, request, calls.warn)) ?? callId;
  const observer = observerOf(services, requestId, path);
  const served = { services, requestId, callId, request, path, observer, findOwnCaller };
  const refuse = (thrown: unknown): GatewayResponse => finish(served, errorResponse(thrown, served));
  try {
    const response = respond(served);
    const made = (result: Made) => (result instanceof GatewayError ? refuse(result) : finish(served, result));
    return response instanceof Promise ? response.then(made, refuse) : Promise.resolve(made(response));
  } catch (thrown) {
    return Promise.resolve(refuse(thrown));
  }
}

/** Adds what every response has. */
function finish({ services, request, requestId, path, observer }: Served, response: GatewayResponse): GatewayResponse {
  response.headers["x-request-id"] = requestId;
  const { requestIdHeader } = protocolOf(path, request);
  if (requestIdHeader !== undefined) response.headers[requestIdHeader] = requestId;
  const { cors } = services;
  if (cors !== undefined) Object.assign(response.headers, corsHeaders(cors, request.header("origin")));
  observer.responded(response.status);
  return response;
}

/** Health probes cause no event. */
function observerOf({ observe }: ServerServices, requestId: string, path: Path | undefined): RequestObserver {
  if (path?.endpoint === "healthz" || path?.endpoint === "readyz") return noObserver;
  return observe(requestId, path?.endpoint);
}

function respond(served: Served): Soon<Made> {
  const { services, request, path } = served;
  // A browser sends a preflight for unknown paths, too. The page must be able to read the 404 that follows.
  if (request.method === "OPTIONS" && (path !== undefined || services.cors !== undefined)) {
    return optionsResponse(services.cors, request, path?.methods ?? []);
  }
  if (path === undefined) throw unservedPath(request);
  if (path.endpoint === "responses" && wantsWebSocket(request)) throw upgradeRefused();
  if (!path.methods.includes(request.method)) throw methodNotSupported(request.method, path);
  if (path.endpoint === "healthz") return probeResponse(200, "ok");
  if (path.endpoint === "readyz") {
    return services.readiness.isReady ? probeResponse(200, "ready") : probeResponse(503, "draining");
  }
  if (services.calls.openCalls.isClosing) {
    throw serviceUnavailable("The gateway is shutting down. Try again shortly.");
  }
  return respondToCaller(served, path);
}

/** Serves the endpoints that need to know the caller. */
function respondToCaller(served: Served, path: Path): Soon<Made> {
  const identified = served.findOwnCaller?.() ?? callerOf(served, path);
  return andThen(identified, (known) => respondToIdentified(served, path, known));
}

function respondToIdentified(served: Served, path: Path, identified: IdentifiedCaller): Soon<Made> {
  const { services, observer } = served;
  observer.authenticated(identified);
  const now = services.calls.clock.now();
  requireValid(identified, now);
  if (identified.keyId !== undefined) services.keyUses?.note(identified.keyId, now);
  return andThen(services.resolveCaller(identified), (caller) => {
    if (caller !== identified) observer.authenticated(caller);
    const response = respondToKnown(served, path, caller);
    return caller.source === "session" ? andThen(response, keepOutOfCaches) : response;
  });
}

/** Caches know that a response to an API key is nobody else's. Of cookies they do not. */
function keepOutOfCaches(response: Made): Made {
  if (!(response instanceof GatewayError)) response.headers["cache-control"] ??= "no-store";
  return response;
}

function respondToKnown(served: Served, path: Path, caller: Caller): Promise<Made> {
  const { services, requestId, callId, request, observer } = served;
  if ("operation" in path) {
    const { operation } = path;
    return callModel(services.calls, { requestId, callId, request, caller, operation, observer });
  }
  return respondWithoutCall(served, path, caller);
}

/** A credential is never passed over: a request with a wrong key is refused, whatever session comes with it. */
function callerOf(served: Served, path: Path): Soon<IdentifiedCaller> {
  const { services, request, requestId } = served;
  const { identifyCaller } = services;
  if (identifyCaller === undefined || sendsCredential((name) => request.header(name))) return callerOfKey(served, path);
  return identifyCaller(request, requestId).then((identified) => identified ?? callerOfKey(served, path));
}

function callerOfKey({ services, request }: Served, path: Path): Soon<IdentifiedCaller> {
  const { findCaller, keyPrefix } = services;
  const credential = protocolOf(path, request).credential((name) => request.header(name));
  return andThen(findKey(credential, findCaller, keyPrefix), requireKnown);
}

/** Serves the endpoints that call no model. */
async function respondWithoutCall(served: Served, path: Path, caller: Caller): Promise<GatewayResponse> {
  const { services, request, observer } = served;
  const { endpoint } = path;
  if (endpoint === "count_tokens" || endpoint === "input_tokens") {
    services.countPace.require(caller.account, "Tokens are counted");
    return json(await countTokens(services.calls, { endpoint, request, caller }, observer));
  }
  return respondFromPlan(served, path, caller);
}

/** Serves kept responses, the model list, model records and usage. */
async function respondFromPlan(
  { services, requestId, request }: Served,
  path: Path,
  caller: Caller,
): Promise<GatewayResponse> {
  const { calls } = services;
  const protocol = protocolOf(path, request);
  const kept = calls.operations.responses;
  if (path.endpoint === "response" || path.endpoint === "input_items") {
    const place = { store: kept, account: caller.account, id: path.responseId };
    if (request.method === "DELETE") return json(await deleteKeptResponse(place));
    services.readPace.require(caller.account, "Kept responses are read");
    return readKept(request, path.endpoint, place, calls.body.pendingBodies);
  }
  const allowance = await calls.findAllowance(caller.plan);
  const catalog = calls.catalog.current;
  switch (path.endpoint) {
    case "usage":
      return json(await reportUsage(calls, caller, allowance, requestId), { "cache-control": "no-store" });
    case "model":
      return json(protocol.modelRecord(authorize(caller, allowance, catalog, path.model).model));
    default:
      return json(protocol.modelList([...catalog.values()].filter(({ id }) => mayUse(caller, allowance, id))));
  }
}

/** The response to a probe of a load balancer or an orchestrator. */
function probeResponse(status: number, word: "ok" | "ready" | "draining"): GatewayResponse {
  return { ...json(`{"status":"${word}"}`, { "cache-control": "no-store" }), status };
}

function json(body: string, headers: Record<string, string> = {}): GatewayResponse {
  return { status: 200, headers: { "content-type": "application/json", ...headers }, body };
}

/** Builds the error response. Only the host learns the cause of an internal error, in a warning. */
function errorResponse(thrown: unknown, { services, requestId, request, path, observer }: Served): GatewayResponse {
  if (request.signal.aborted) {
    observer.refused("client_gone");
    return { status: 499, headers: {}, body: null };
  }
  const error = toGatewayError(thrown, services.calls.body);
  observer.refused(error.code);
  if (error.code === "internal_error") {
    const message = "A bug in the gateway: a request got a 500.";
    services.calls.warn({ code: "internal_error", message, cause: thrown, requestId });
  }
  const protocol = protocolOf(path, request);
  if (!(error instanceof RepeatedError) || protocol.bodiesNameRequest) return answerTo(error, protocol, requestId);
  const { status, headers, body } = error.answer(protocol, () => answerTo(error, protocol, requestId));
  return { status, headers: { ...headers }, body };
}

function answerTo(error: GatewayError, protocol: ClientProtocol, requestId: string): GatewayResponse & WrittenError {
  return {
    status: error.status,
    // This order matters: adding members to a copied object takes microseconds for each member.
    headers: {
      "content-type": "application/json",
      ...(protocol.errorHeaders?.(error) ?? error.headers),
      "x-request-id": requestId,
    },
    body: protocol.errorBody(error, requestId),
  };
}

/**
 * The protocol of an operation is its own, also where the client has a wrong base URL. Other endpoints use Anthropic's for a client that sends `anthropic-version`,
 * else OpenAI's.
 */
function protocolOf(served: Path | undefined, request: GatewayRequest): ClientProtocol {
  const path = served ?? misplacedPath(request.path)?.meant;
  if (path !== undefined && "operation" in path) return path.operation.protocol;
  if (path?.endpoint === "input_tokens") return openAIProtocol;
  return path?.endpoint === "count_tokens" ? anthropicProtocol : protocolOfClient((name) => request.header(name));
}

function toGatewayError(thrown: unknown, options: BodyOptions): GatewayError {
  if (isGatewayError(thrown)) return thrown;
  return isBodyError(thrown) ? bodyFailure(thrown, options) : internalError(thrown);
}

function optionsResponse(
  cors: CorsOptions | undefined,
  request: GatewayRequest,
  methods: readonly string[],
): GatewayResponse {
  const headers: Record<string, string> = methods.length === 0 ? {} : { allow: methods.join(", ") };
  if (cors !== undefined) Object.assign(headers, preflightHeaders(request.header("access-control-request-headers")));
  return { status: 204, headers, body: null };
}

/** Some clients try it first, and go on over HTTP at once where they get this status. */
function wantsWebSocket(request: GatewayRequest): boolean {
  return request.method === "GET" && /\bwebsocket\b/i.test(request.header("upgrade") ?? "");
}

function upgradeRefused(): GatewayError {
  const message = 'Responses do not come over WebSockets here. Send a POST with "stream": true.';
  // RFC 9110, section 15.5.22: it names the protocol that is required. An adapter that cannot send `connection` drops it.
  const headers = { connection: "close, Upgrade", upgrade: "HTTP/1.1" };
  return new GatewayError(message, { status: 426, code: "websockets_not_supported", headers });
}

function methodNotSupported(method: string, path: Path): GatewayError {
  const allow = path.methods.join(", ");
  return new GatewayError(`Not allowed to ${method} on this path. Use ${allow}.`, {
    status: 405,
    code: "method_not_supported",
    headers: { allow },
  });
}
