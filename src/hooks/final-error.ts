import { type GatewayError, isGatewayError } from "../errors/gateway-error.js";
import { isHeaderName, isHeaderValue } from "../providers/header-syntax.js";

/** Whether the client gets the error that a hook has thrown, as it is. A hook may throw anything. */
export function isFinalError(thrown: unknown): thrown is GatewayError {
  try {
    if (!isGatewayError(thrown)) return false;
    const { message, status, code, type, param, headers } = thrown;
    const texts: unknown[] = [message, code, type];
    return (
      Number.isInteger(status) &&
      status >= 400 &&
      status <= 599 &&
      texts.every((text) => typeof text === "string") &&
      (param === null || typeof param === "string") &&
      Object.entries(headers).every(([name, value]) => isHeaderName(name) && isHeaderValue(value))
    );
  } catch {
    return false;
  }
}
