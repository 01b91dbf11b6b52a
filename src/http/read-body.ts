import { GatewayError, internalError, invalidJson, serviceUnavailable, withHeaders } from "../errors/gateway-error.js";
import { type BodyError, type BodyFailure, type BodyLimits, type GatewayRequest, isBodyError } from "./message.js";
import type { PendingBodies } from "./pending-bodies.js";

export interface BodyOptions {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly minBodyBytesPerSecond: number;
  readonly pendingBodies: PendingBodies;
}

/**
 * Reads a request's bytes. Unless they came with the headers, they count among the account's pending ones until these are
 * dropped.
 * @throws GatewayError 415; rejects with a `BodyError`, which {@link bodyFailure} makes a response of.
 */
export function readBody(request: GatewayRequest, account: string, options: BodyOptions): Promise<Uint8Array> {
  requirePlain(request);
  return request.body(new RequestLimits(request, account, options));
}

/** Reads a form with files, which has limits of its own. @throws as {@link readBody}; rejects with a GatewayError. */
export async function readUpload(
  request: GatewayRequest,
  account: string,
  options: BodyOptions,
): Promise<readonly Uint8Array[]> {
  requirePlain(request);
  try {
    return await request.bodyInPieces(new RequestLimits(request, account, options));
  } catch (error) {
    throw isBodyError(error) ? bodyFailure(error, options) : error;
  }
}

function requirePlain(request: GatewayRequest): void {
  const encoding = request.header("content-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "" && encoding !== "identity") {
    throw new GatewayError("Compressed request bodies are not supported: send no Content-Encoding.", {
      status: 415,
      code: "unsupported_content_encoding",
      headers: { "accept-encoding": "identity" },
    });
  }
}

/** The limits of one request's body. */
class RequestLimits implements BodyLimits {
  readonly #request: GatewayRequest;
  readonly #account: string;
  readonly #options: BodyOptions;

  constructor(request: GatewayRequest, account: string, options: BodyOptions) {
    this.#request = request;
    this.#account = account;
    this.#options = options;
  }

  get maxBytes(): number {
    return this.#options.maxBodyBytes;
  }

  get timeoutMs(): number {
    return this.#options.bodyTimeoutMs;
  }

  get minBytesPerSecond(): number {
    return this.#options.minBodyBytesPerSecond;
  }

  arrived(bytes: number): BodyFailure | undefined {
    return this.#options.pendingBodies.add(this.#request, this.#account, bytes);
  }
}

/**
 * The rest of the body is not read, so the connection cannot be used again.
 * @returns GatewayError 400, 408, 413, 429, 500, 503
 */
export function bodyFailure(error: BodyError, { maxBodyBytes, bodyTimeoutMs }: BodyOptions): GatewayError {
  const headers = { connection: "close" };
  switch (error.failure) {
    case "too_large":
      return new GatewayError(`The request body is larger than ${maxBodyBytes} bytes.`, {
        status: 413,
        code: "request_too_large",
        headers,
      });
    case "too_slow":
      return new GatewayError(
        `The request body came too slowly: it must be complete within ${bodyTimeoutMs / 1000} seconds.`,
        { status: 408, code: "request_timeout", headers },
      );
    case "over_share":
    case "no_room":
      return withHeaders(roomFailure(error.failure), headers);
    case "no_bytes":
      return internalError(error.cause);
    default:
      return invalidJson("The request body broke off.");
  }
}

/**
 * The error for bytes that find no room among those that wait.
 * @returns GatewayError 429, 503
 */
export function roomFailure(failure: BodyFailure): GatewayError {
  if (failure !== "over_share") {
    return serviceUnavailable("Too many large requests are under way at once. Try again shortly.");
  }
  return new GatewayError(
    "Too many large requests of your account are under way at once. Send fewer at a time, and try again shortly.",
    { status: 429, code: "rate_limit_exceeded", type: "requests", headers: { "retry-after": "2" } },
  );
}
