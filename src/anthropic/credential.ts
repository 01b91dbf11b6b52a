import { missingKey } from "../errors/gateway-error.js";

const bearer = /^bearer +(\S+) *$/i;

/**
 * The `authorization` of a request of Anthropic's clients, which send the key there, or in `x-api-key`, or both.
 * @throws GatewayError 401 when they send two different ones.
 */
export function anthropicAuthorization(header: (name: string) => string | undefined): string | undefined {
  const authorization = header("authorization");
  const key = header("x-api-key")?.trim() ?? "";
  if (key === "") return authorization;
  if (authorization === undefined || authorization.trim() === "") return `Bearer ${key}`;
  if (bearer.exec(authorization)?.[1] === key) return authorization;
  throw missingKey("The headers 'x-api-key' and 'Authorization' hold different keys. Send one of them.");
}
