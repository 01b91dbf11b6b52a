import { GatewayError, invalidJson } from "../openai/errors.js";
import { type BodyError, type GatewayRequest, isBodyError } from "./exchange.js";

export interface BodyLimits {
  maxBodyBytes: number;
  bodyTimeoutMs: number;
}

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads a JSON request's bytes. A missing content type is no fault as long as the body parses.
 * @throws GatewayError 408, 413, 415
 */
export async function readBody(request: GatewayRequest, limits: BodyLimits): Promise<Uint8Array> {
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
  try {
    return await request.body({ maxBytes: limits.maxBodyBytes, timeoutMs: limits.bodyTimeoutMs });
  } catch (error) {
    throw isBodyError(error) ? bodyFailure(error, limits) : error;
  }
}

/** The rest of the body is not read, so the connection cannot be used again. */
function bodyFailure(error: BodyError, { maxBodyBytes, bodyTimeoutMs }: BodyLimits): GatewayError {
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
