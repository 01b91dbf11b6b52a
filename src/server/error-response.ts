import { type GatewayError, internalError, isGatewayError } from "../errors/gateway-error.js";
import { RepeatedError, type WrittenError } from "../errors/repeated-error.js";
import type { RequestObserver } from "../events/request-observer.js";
import { type GatewayRequest, type GatewayResponse, isBodyError } from "../http/message.js";
import { type BodyOptions, bodyFailure } from "../http/request-body.js";
import { anthropicProtocol } from "../protocols/messages/anthropic-protocol.js";
import { protocolOfClient } from "../protocols/protocol-of-client.js";
import type { ClientProtocol } from "../protocols/shared/client-protocol.js";
import { openAIProtocol } from "../protocols/shared/openai-protocol.js";
import type { Path } from "./paths.js";
import type { ServerServices } from "./server-services.js";
import { misplacedPath } from "./unserved-path.js";

/** A request that failed. */
interface FailedRequest {
  readonly services: ServerServices;
  readonly requestId: string;
  readonly request: GatewayRequest;
  readonly path: Path | undefined;
  readonly observer: RequestObserver;
}

/** Builds the error response. Only the host learns the cause of an internal error, in a warning. */
export function errorResponse(
  thrown: unknown,
  { services, requestId, request, path, observer }: FailedRequest,
): GatewayResponse {
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

/**
 * Every error that `serve` answers, thrown or returned, in every protocol. A header for all errors of a status belongs here.
 * Pages write theirs in `pages/server/make-page.ts`; web pages read only what `http/origin.ts` exposes.
 */
function written(error: GatewayError, protocol: ClientProtocol): WrittenError {
  return {
    status: error.status,
    headers: {
      "content-type": "application/json",
      ...(protocol.errorHeaders?.(error) ?? error.headers),
      // Its place: to add a member to a copied object takes microseconds.
      "x-request-id": "",
    },
    body: protocol.errorBody(error),
  };
}

/**
 * The protocol of an operation is its own, also where the client has a wrong base URL. Other endpoints use Anthropic's for a
 * client that sends `anthropic-version`, else OpenAI's.
 */
export function protocolOf(served: Path | undefined, request: GatewayRequest): ClientProtocol {
  const path = served ?? misplacedPath(request.path)?.meant;
  if (path !== undefined && "operation" in path) return path.operation.protocol;
  if (path?.endpoint === "input_tokens") return openAIProtocol;
  return path?.endpoint === "count_tokens" ? anthropicProtocol : protocolOfClient((name) => request.header(name));
}

function toGatewayError(thrown: unknown, options: BodyOptions): GatewayError {
  if (isGatewayError(thrown)) return thrown;
  return isBodyError(thrown) ? bodyFailure(thrown, options) : internalError(thrown);
}
