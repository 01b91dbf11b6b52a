import type { Caller, IdentifiedCaller } from "../access/caller.js";
import type { Responder } from "../call/responder.js";
import type { RequestObserver } from "../events/request-observer.js";
import { corsHeaders } from "../http/cors.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { errorResponse } from "./error-response.js";
import type { Path } from "./paths.js";
import { protocolOf } from "./protocol-of.js";
import type { ServerServices } from "./server-services.js";

/** What is known of a request as it arrives. */
export interface ArrivedRequest {
  readonly requestId: string;
  /** Unique, whatever ids the host gives. */
  readonly callId: string;
  readonly request: GatewayRequest;
  readonly path: Path | undefined;
  readonly observer: RequestObserver;
  /** Given by the host's own code: then no key is read, and no session. */
  readonly findOwnCaller: (() => IdentifiedCaller) | undefined;
}

/** One request while it is being served. */
export class ServedRequest implements ArrivedRequest, Responder {
  readonly services: ServerServices;
  readonly requestId: string;
  readonly callId: string;
  readonly request: GatewayRequest;
  readonly path: Path | undefined;
  readonly observer: RequestObserver;
  readonly findOwnCaller: (() => IdentifiedCaller) | undefined;
  /** `undefined`: it is not known yet. */
  caller: Caller | undefined;

  constructor(services: ServerServices, arrived: ArrivedRequest) {
    this.services = services;
    this.requestId = arrived.requestId;
    this.callId = arrived.callId;
    this.request = arrived.request;
    this.path = arrived.path;
    this.observer = arrived.observer;
    this.findOwnCaller = arrived.findOwnCaller;
  }

  finish(response: GatewayResponse): GatewayResponse {
    // Caches know that a response to an API key is nobody else's. Of cookies they do not.
    if (this.caller?.source === "session") response.headers["cache-control"] ??= "no-store";
    return this.#end(response);
  }

  refuse(failure: unknown): GatewayResponse {
    return this.#end(errorResponse(failure, this));
  }

  #end(response: GatewayResponse): GatewayResponse {
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
