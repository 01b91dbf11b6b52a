import { missingKey, refusedKey } from "../errors/gateway-error.js";
import { hashKey } from "../keys/hash-key.js";
import { isMistypedKey } from "../keys/managed-key.js";
import type { Caller } from "./accounts.js";
import type { Lookup } from "./cached-lookup.js";

/** RFC 6750, section 2.1; the scheme's case does not matter (RFC 9110, section 11.1). */
const bearer = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i;

/**
 * Finds out whose key it is, whether or not it is still good: see {@link requireValid}.
 * @param authorization - the request's header; two of them arrive joined by a comma, and are refused for it.
 * @returns no promise where the key is remembered: that saves a turn of each request.
 * @throws GatewayError 401, or 503 when the store fails.
 */
export function authenticate(authorization: string | undefined, findCaller: Lookup<Caller>): Caller | Promise<Caller> {
  if (authorization === undefined || authorization.trim() === "") {
    throw missingKey("You did not provide an API key. Send it as a header: Authorization: Bearer YOUR_KEY.");
  }
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined) {
    throw missingKey("The Authorization header is malformed. Send it once, as: Authorization: Bearer YOUR_KEY.");
  }
  if (isMistypedKey(token)) throw refusedKey();
  const found = findCaller(hashKey(token));
  return found instanceof Promise ? found.then(requireKnown) : requireKnown(found);
}

function requireKnown(caller: Caller | undefined): Caller {
  if (caller === undefined) throw refusedKey();
  return caller;
}

/** @throws GatewayError 401 when the key is expired or revoked; the same as for one that does not exist. */
export function requireValid(caller: Caller, now: number): void {
  if (now >= caller.refusedFrom) throw refusedKey();
}
