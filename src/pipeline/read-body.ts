import { GatewayError, invalidJson } from "../openai/errors.js";
import type { BodyError, GatewayRequest } from "./exchange.js";

export interface BodyLimits {
  maxBodyBytes: number;
  bodyTimeoutMs: number;
}

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a JSON request's bytes. A missing content type is no fault as long as the body parses.
 * @throws GatewayError 415; rejects with a `BodyError`, which {@link bodyFailure} makes an answer of.
 */
export function readBody(request: GatewayRequest, limits: BodyLimits): Promise<Uint8Array> {
  const type = request.header("content-type")?.trim();
  if (type !== undefined && type !== "" && !jsonType.test(type)) {
    throw new GatewayError("The request body must be JSON: send the header Content-Type: application/json.", {
      status: 415,
      code: "unsupported_content_type",
    });
  }
  const encoding = request.header("content-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "" && encoding !== "identity") {
    throw new GatewayError("Compressed request bodies are not supported: send no Content-Encoding.", {
      status: 415,
      code: "unsupported_content_encoding",
      headers: { "accept-encoding": "identity" },
    });
  }
  return request.body({ maxBytes: limits.maxBodyBytes, timeoutMs: limits.bodyTimeoutMs });
}

/**
 * The rest of the body is not read, so the connection cannot be used again.
 * @returns GatewayError 400, 408, 413
 */
export function bodyFailure(error: BodyError, { maxBodyBytes, bodyTimeoutMs }: BodyLimits): GatewayError {
  const headers = { connection: "close" };
  switch (error.failure) {
    case "too_large":
      return new GatewayError(`The request body is larger than ${maxBodyBytes} bytes.`, {
        status: 413,
        code: "request_too_large",
        headers,
      });
    case "too_slow":
      return new GatewayError(`The request body did not arrive within ${bodyTimeoutMs / 1000} seconds.`, {
        status: 408,
        code: "request_timeout",
        headers,
      });
    default:
      return invalidJson("The request body broke off.");
  }
}
