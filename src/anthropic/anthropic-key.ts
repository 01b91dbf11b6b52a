import { missingKey } from "../errors/gateway-error.js";

const token = /^[A-Za-z0-9._~+/=-]+$/;
const bearer = /^bearer +(.*)$/i;

/**
 * The key of Anthropic's clients, which send it in `x-api-key`, or in `authorization`, or in both.
 * @throws GatewayError 401 when there is none, or it is malformed, or there are two different ones.
 */
export function anthropicKey(header: (name: string) => string | undefined): string {
  const key = header("x-api-key")?.trim() ?? "";
  const authorization = header("authorization")?.trim() ?? "";
  if (key === "" && authorization === "") {
    throw missingKey(
      "You did not provide an API key. Send it as a header: x-api-key: YOUR_KEY, or Authorization: Bearer YOUR_KEY.",
    );
  }
  const borne = bearer.exec(authorization)?.[1];
  if (key !== "" && authorization !== "" && borne !== key) {
    throw missingKey("The headers 'x-api-key' and 'Authorization' hold different keys. Send one of them.");
  }
  const found = key === "" ? borne : key;
  // Two headers arrive joined by a comma, and are refused for it.
  if (found !== undefined && token.test(found)) return found;
  throw missingKey(
    key === ""
      ? "The Authorization header is malformed. Send it once, as: Authorization: Bearer YOUR_KEY."
      : "The x-api-key header is malformed. Send it once, as: x-api-key: YOUR_KEY.",
  );
}
