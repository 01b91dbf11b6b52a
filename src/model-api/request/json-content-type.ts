import { GatewayError } from "../../errors/gateway-error.js";

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i;

/**
 * Accepts a missing content type, as long as the body is JSON.
 * @throws GatewayError 415 for a content type other than JSON.
 */
export function requireJsonType(contentType: string | undefined): void {
  const type = contentType?.trim();
  if (type === undefined || type === "" || jsonType.test(type)) return;
  throw new GatewayError("The request body must be JSON: send the header Content-Type: application/json.", {
    status: 415,
    code: "unsupported_content_type",
  });
}
