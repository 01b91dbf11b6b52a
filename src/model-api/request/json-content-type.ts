import { GatewayError } from "../../errors/gateway-error.js";

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i;

/**
 * Accepts a missing content type, as long as the body is JSON.
 * @param isFormToo - whether a form is another way.
 * @throws GatewayError 415 for a content type other than JSON.
 */
export function requireJsonType(contentType: string | undefined, isFormToo = false): void {
  const type = contentType?.trim();
  if (type === undefined || type === "" || jsonType.test(type)) return;
  const [body, types] = isFormToo
    ? ["JSON or a form", "application/json or multipart/form-data"]
    : ["JSON", "application/json"];
  throw new GatewayError(`The request body must be ${body}: send the header Content-Type: ${types}.`, {
    status: 415,
    code: "unsupported_content_type",
  });
}
