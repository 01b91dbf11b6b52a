import { GatewayError, internalError, isGatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import { TimeLimitError } from "../../guard/time-limit.js";
import { isBodyError } from "../../http/message.js";
import { type BodyOptions, bodyFailure } from "../../http/read-body.js";
import { isUnsupported } from "./is-unsupported.js";

/**
 * What a reader gets for what was thrown. What the management of the gateway throws names methods of the host's: only its
 * status goes out, and where a reader can mend it, its words.
 */
export function pageError(thrown: unknown, bodies: BodyOptions, warn: Warn): GatewayError {
  if (isBodyError(thrown)) return bodyFailure(thrown, bodies);
  const status = statusOf(thrown);
  if (status === 503 || thrown instanceof TimeLimitError)
    return serviceUnavailable("The service has no access to its data at the moment. Try again shortly.");
  if (isGatewayError(thrown)) return thrown;
  if (isUnsupported(thrown)) {
    return new GatewayError("This service does not keep that.", { status: 501, code: "not_supported" });
  }
  if (status === 404) return notFound();
  if (status === 409) {
    return new GatewayError("Something else has changed it in the meantime, or it has ended. Load it again.", {
      status,
      code: "conflict",
    });
  }
  if (status === 400 && thrown instanceof Error) {
    return new GatewayError(withoutMethod(thrown.message), { status, code: "invalid_value" });
  }
  warn({ code: "internal_error", message: "A bug in the gateway: a request of a page got a 500.", cause: thrown });
  return internalError(thrown);
}

/** One text for what is not there and for what is another's. */
export function notFound(): GatewayError {
  return new GatewayError("There is no such thing here.", { status: 404, code: "not_found" });
}

function statusOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !("status" in thrown)) return undefined;
  return typeof thrown.status === "number" ? thrown.status : undefined;
}

/** `gateway.keys.create: name: …` is about the name. */
function withoutMethod(message: string): string {
  return message
    .replace(/^gateway(?:\.\w+)+: /, "")
    .replace(/\s+/g, " ")
    .slice(0, 500);
}
