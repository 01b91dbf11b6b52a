import { ownerOf, requireValid } from "../access/authenticate.js";
import type { Caller, IdentifiedCaller } from "../access/caller.js";
import { mayUse } from "../access/entitlement.js";
import { makeCall } from "../call/make-call.js";
import { GatewayError, invalidValue, serviceUnavailable } from "../errors/gateway-error.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { type CorsOptions, preflightHeaders } from "../http/origin.js";
import { sendsCredential } from "../protocols/protocol-of-client.js";
import { deleteKeptResponse } from "../protocols/responses/kept-responses.js";
import { type ModelType, modelTypes } from "../protocols/shared/model-type.js";
import { countTokens } from "./count-tokens.js";
import { protocolOf } from "./error-response.js";
import type { Path } from "./paths.js";
import { readKept } from "./read-kept.js";
import { reportUsage } from "./report-usage.js";
import { Served, ServedCall } from "./served.js";
import type { IdentifyCaller, ServerServices } from "./server-services.js";
import { unservedPath } from "./unserved-path.js";

/**
 * Serves a request: finds the path, authenticates, and runs the endpoint. Never rejects.
 * @param findOwnCaller - gives the caller of the host's own code, or throws a GatewayError for its response. Then no key is
 * read, and no session.
 */
export function serve(
  services: ServerServices,
  request: GatewayRequest,
  findOwnCaller?: () => IdentifiedCaller,
): Promise<GatewayResponse> {
  const served = new Served(services, request);
  const work = (): Promise<GatewayResponse> => respond(served, findOwnCaller);
  return served.observer.run === undefined ? work() : served.observer.run(work);
}

async function respond(served: Served, findOwnCaller?: () => IdentifiedCaller): Promise<GatewayResponse> {
  try {
    const { services, observer, path } = served;
    const early = respondToAnybody(served);
    if (early !== undefined) return served.respond(early);
    const known = requirePath(served, path);
    const found = findOwnCaller?.() ?? identify(served, known);
    const identified = found instanceof Promise ? await found : found;
    observer.authenticated(identified);
    const now = services.calls.clock.now();
    requireValid(identified, now);
    if (identified.keyId !== undefined) services.keyUses?.note(identified.keyId, now);
    const resolved = services.resolveCaller(identified);
    const caller = resolved instanceof Promise ? await resolved : resolved;
    if (caller !== identified) observer.authenticated(caller);
    if ("operation" in known) return await makeCall(services.calls, new ServedCall(served, caller, known.operation));
    return served.respond(await respondWithoutCall(served, known, caller), caller);
  } catch (thrown) {
    return served.refuse(thrown);
  }
}

/** What needs no caller: preflights and probes. @returns `undefined` for all else. */
function respondToAnybody({ services, request, path }: Served): GatewayResponse | undefined {
  // A browser sends a preflight for unknown paths, too. The page must be able to read the 404 that follows.
  if (request.method === "OPTIONS" && (path !== undefined || services.cors !== undefined)) {
    return optionsResponse(services.cors, request, path?.methods ?? []);
  }
  if (path?.endpoint !== "healthz" && path?.endpoint !== "readyz") return undefined;
  if (!path.methods.includes(request.method)) throw methodNotSupported(request.method, path);
  if (path.endpoint === "healthz") return probeResponse(200, "ok");
  return services.readiness.isReady ? probeResponse(200, "ready") : probeResponse(503, "draining");
}

/** @throws GatewayError 404, 405, 426; 503 while the gateway closes. */
function requirePath({ services, request }: Served, path: Path | undefined): Path {
  if (path === undefined) throw unservedPath(request);
  if (path.endpoint === "responses" && wantsWebSocket(request)) throw upgradeRefused();
  if (!path.methods.includes(request.method)) throw methodNotSupported(request.method, path);
  if (services.calls.openCalls.isClosing) {
    throw serviceUnavailable("The gateway is shutting down. Try again shortly.");
  }
  return path;
}

/** A credential is never passed over: a request with a wrong key is refused, whatever session comes with it. */
function identify(served: Served, path: Path): IdentifiedCaller | Promise<IdentifiedCaller> {
  const { services, request } = served;
  const { identifyCaller } = services;
  return identifyCaller === undefined || sendsCredential((name) => request.header(name))
    ? ownerOfKey(served, path)
    : identifyBy(identifyCaller, served, path);
}

async function identifyBy(identifyCaller: IdentifyCaller, served: Served, path: Path): Promise<IdentifiedCaller> {
  return (await identifyCaller(served.request, served.requestId)) ?? (await ownerOfKey(served, path));
}

function ownerOfKey({ services, request }: Served, path: Path): IdentifiedCaller | Promise<IdentifiedCaller> {
  const { findCaller, keyPrefix } = services;
  return ownerOf(protocolOf(path, request).credential(request), findCaller, keyPrefix);
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
      return json(protocol.modelRecord(calls.entitlements.of(caller, allowance, catalog, path.model).model));
    default: {
      const listed = listedType(request.query);
      const models = [...catalog.values()].filter(({ type }) => listed === undefined || type === listed);
      return json(protocol.modelList(models.filter(({ id }) => mayUse(caller, allowance, id))));
    }
  }
}

/** The response to a probe of a load balancer or an orchestrator. */
function probeResponse(status: number, word: "ok" | "ready" | "draining"): GatewayResponse {
  return { ...json(`{"status":"${word}"}`, { "cache-control": "no-store" }), status };
}

function json(body: string, headers: Record<string, string> = {}): GatewayResponse {
  return { status: 200, headers: { "content-type": "application/json", ...headers }, body };
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

/**
 * The type of models that a list is asked for, as `?type=chat`.
 * @returns `undefined`: models of all types.
 * @throws GatewayError 400 for a type that no model has.
 */
function listedType(query: string | undefined): ModelType | undefined {
  const asked = new URLSearchParams(query).get("type");
  if (asked === null) return undefined;
  const type = modelTypes.find((each) => each === asked);
  if (type === undefined) throw invalidValue("type", `'type' must be one of ${modelTypes.join(", ")}.`);
  return type;
}
