import type { Caller } from "../access/caller.js";
import type { ReceivedCall } from "../call/checked-call.js";
import { GatewayError } from "../errors/gateway-error.js";
import { noObserver, type RequestObserver } from "../events/request-observer.js";
import type { Warn } from "../events/warning.js";
import type { GatewayRequest, GatewayResponse, RequestHead } from "../http/message.js";
import { corsHeaders } from "../http/origin.js";
import type { Operation } from "../protocols/shared/operation.js";
import { errorResponse, protocolOf } from "./error-response.js";
import { matchPath, type Path } from "./paths.js";
import { inOwnWords } from "./refusal-words.js";
import type { ServerServices } from "./server-services.js";

/** One request while it is being served. */
export class Served {
  readonly services: ServerServices;
  /** What client, host and upstream know the request by. */
  readonly requestId: string;
  /** Unique, whatever ids the host gives. */
  readonly callId: string;
  readonly request: GatewayRequest;
  readonly path: Path | undefined;
  readonly observer: RequestObserver;

  constructor(services: ServerServices, request: GatewayRequest) {
    const { requestIdOf, calls } = services;
    this.services = services;
    this.request = request;
    this.path = matchPath(request.path);
    this.callId = calls.requestIds.next();
    this.requestId = (requestIdOf && hostRequestId(requestIdOf, request, calls.warn)) ?? this.callId;
    this.observer = observerOf(this);
  }

  /** What the client gets for a response, or for an error that was not thrown, which takes microseconds. */
  respond(made: GatewayResponse | GatewayError, caller?: Caller): GatewayResponse {
    if (made instanceof GatewayError) return this.refuse(made);
    // Caches know that a response to an API key is nobody else's. Of cookies they do not.
    if (caller?.source === "session") made.headers["cache-control"] ??= "no-store";
    return this.#finish(made);
  }

  /** What the client gets for what was thrown. */
  refuse(thrown: unknown): GatewayResponse {
    return this.#finish(errorResponse(thrown, this));
  }

  /** Adds what every response has. */
  #finish(response: GatewayResponse): GatewayResponse {
    const { services, request, requestId, path, observer } = this;
    response.headers["x-request-id"] = requestId;
    const { requestIdHeader } = protocolOf(path, request);
    if (requestIdHeader !== undefined) response.headers[requestIdHeader] = requestId;
    const { cors } = services;
    if (cors !== undefined) Object.assign(response.headers, corsHeaders(cors, request.header("origin")));
    observer.responded(response.status);
    return response;
  }
}

/** Health probes cause no event. */
function observerOf({ services, requestId, callId, path, request }: Omit<Served, "observer">): RequestObserver {
  if (path?.endpoint === "healthz" || path?.endpoint === "readyz") return noObserver;
  const ended = services.hostWait.begin(request, { requestId, callId });
  const observe = services.observe ?? (ended && services.observeEnd);
  return observe === undefined ? noObserver : observe({ requestId, endpoint: path?.endpoint, head: request, ended });
}

/** A request for a model, whose caller is known. */
export class ServedCall implements ReceivedCall {
  readonly requestId: string;
  readonly callId: string;
  readonly request: GatewayRequest;
  readonly observer: RequestObserver;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly #served: Served;

  constructor(served: Served, caller: Caller, operation: Operation) {
    this.requestId = served.requestId;
    this.callId = served.callId;
    this.request = served.request;
    this.observer = served.observer;
    this.caller = caller;
    this.operation = operation;
    this.#served = served;
  }

  get account(): string {
    return this.caller.account;
  }

  header(name: string): string | undefined {
    return this.request.header(name);
  }

  respond(made: GatewayResponse | GatewayError): GatewayResponse {
    return this.#served.respond(this.#worded(made), this.caller);
  }

  refuse(thrown: unknown): GatewayResponse {
    return this.#served.refuse(this.#worded(thrown));
  }

  #worded<Made>(made: Made): Made | GatewayError {
    const { refusalWords } = this.#served.services;
    return refusalWords === undefined ? made : inOwnWords(made, refusalWords, this.caller, this.requestId);
  }
}

/** Short, and safe in headers, logs and URLs. */
const usable = /^[\w.~:/+=@-]{1,128}$/;

/**
 * The host's own id of a request.
 * @returns `undefined` where the host gives none that can be used.
 */
function hostRequestId(
  read: (request: RequestHead) => string | undefined,
  request: RequestHead,
  warn: Warn,
): string | undefined {
  const fail = (cause: unknown): void =>
    warn({ code: "hook_failed", message: "The function requestId failed. The gateway's own id is used.", cause });
  let given: unknown;
  try {
    given = read(request);
  } catch (cause) {
    fail(cause);
    return undefined;
  }
  if (typeof given === "string") return usable.test(given) ? given : undefined;
  // An async function is a mistake. Its rejection must not end the process.
  if (given instanceof Promise) given.then(() => fail(new TypeError("It must not be async.")), fail);
  return undefined;
}
