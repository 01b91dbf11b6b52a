import { GatewayError } from "../../errors/gateway-error.js";

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i;

/**
 * A missing content type is no fault as long as the body parses.
 * @throws GatewayError 415 when it says that the body is no JSON.
 */
export function requireJsonType(contentType: string | undefined): void {
  const type = contentType?.trim();
  if (type === undefined || type === "" || jsonType.test(type)) return;
  throw new GatewayError("The request body must be JSON: send the header Content-Type: application/json.", {
    status: 415,
    code: "unsupported_content_type",
  });
}
