import { type GatewayError, internalError, isGatewayError } from "../errors/gateway-error.js";
import { RepeatedError, type WrittenError } from "../errors/repeated-error.js";
import type { RequestObserver } from "../events/request-observer.js";
import { type GatewayRequest, type GatewayResponse, isBodyError } from "../http/message.js";
import { type BodyOptions, bodyFailure } from "../http/read-body.js";
import type { ClientProtocol } from "../operations/protocols/client-protocol.js";
import type { Path } from "./paths.js";
import { protocolOf } from "./protocol-of.js";
import type { ServerServices } from "./server-services.js";

/** A request that gets an error. */
export interface FailedRequest {
  readonly services: ServerServices;
  readonly requestId: string;
  readonly request: GatewayRequest;
  readonly path: Path | undefined;
  readonly observer: RequestObserver;
}

/** Builds the error response. Only the host learns the cause of an internal error, in a warning. */
export function errorResponse(failure: unknown, failed: FailedRequest): GatewayResponse {
  const { services, requestId, request, path, observer } = failed;
  if (request.signal.aborted) {
    observer.refused("client_gone");
    return { status: 499, headers: {}, body: null };
  }
  const error = toGatewayError(failure, services.calls.body);
  observer.refused(error.code);
  if (error.code === "internal_error") {
    const message = "A bug in the gateway: a request got a 500.";
    services.calls.warn({ code: "internal_error", message, cause: failure, requestId });
  }
  const protocol = protocolOf(path, request);
  const { status, headers, body } =
    error instanceof RepeatedError ? writtenOnce(error, protocol) : written(error, protocol);
  return {
    status,
    headers: { ...headers },
    body: protocol.nameRequest === undefined ? body : protocol.nameRequest(body, requestId),
  };
}

function writtenOnce(error: RepeatedError, protocol: ClientProtocol): WrittenError {
  return error.answerFor(protocol) ?? error.keep(protocol, written(error, protocol));
}

function written(error: GatewayError, protocol: ClientProtocol): WrittenError {
  return {
    status: error.status,
    headers: {
      "content-type": "application/json",
      ...(protocol.errorHeaders?.(error) ?? error.headers),
      // Its place: adding members to a copied object takes microseconds for each member.
      "x-request-id": "",
    },
    body: protocol.errorBody(error),
  };
}

function toGatewayError(failure: unknown, options: BodyOptions): GatewayError {
  if (isGatewayError(failure)) return failure;
  return isBodyError(failure) ? bodyFailure(failure, options) : internalError(failure);
}
