import { missingKey } from "../errors/gateway-error.js";
import { RepeatedError } from "../errors/repeated-error.js";

const token = /^[A-Za-z0-9._~+/=-]+$/;
const bearer = /^bearer +(.*)$/i;

const missing = (message: string) => RepeatedError.of(missingKey(message));
const noKey = missing(
  "You did not provide an API key. Send it as a header: x-api-key: YOUR_KEY, or Authorization: Bearer YOUR_KEY.",
);
const twoKeys = missing("The headers 'x-api-key' and 'Authorization' hold different keys. Send one of them.");
const malformed = missing("The Authorization header is malformed. Send it once, as: Authorization: Bearer YOUR_KEY.");
const malformedKey = missing("The x-api-key header is malformed. Send it once, as: x-api-key: YOUR_KEY.");

/**
 * The key of Anthropic's clients, which send it in `x-api-key`, or in `authorization`, or in both.
 * @throws GatewayError 401 when there is none, or it is malformed, or there are two different ones.
 */
export function anthropicKey(header: (name: string) => string | undefined): string {
  const key = header("x-api-key")?.trim() ?? "";
  const authorization = header("authorization")?.trim() ?? "";
  if (key === "" && authorization === "") throw noKey;
  const borne = bearer.exec(authorization)?.[1];
  if (key !== "" && authorization !== "" && borne !== key) throw twoKeys;
  const found = key === "" ? borne : key;
  // Two headers arrive joined by a comma, and are refused for it.
  if (found !== undefined && token.test(found)) return found;
  throw key === "" ? malformed : malformedKey;
}
