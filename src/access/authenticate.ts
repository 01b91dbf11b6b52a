import { disabledKey, refusedKey } from "../errors/gateway-error.js";
import { RepeatedError } from "../errors/repeated-error.js";
import { hashKey, isMistypedKey } from "../records/keys/managed-key.js";
import type { Lookup } from "./cached-lookup.js";
import type { IdentifiedCaller } from "./caller.js";

const refused = RepeatedError.of(refusedKey());
const disabled = RepeatedError.of(disabledKey());

/**
 * Finds the owner of a key, even if the key is expired, revoked or disabled: see {@link requireValid}.
 * @param keyPrefix - of the keys that the gateway makes.
 * @returns at once where it is cached.
 * @throws GatewayError 401 for a text that cannot be a key, and when there is no such key; 503 when the store fails. Where a
 * promise is returned, it rejects with them.
 */
export function ownerOf(
  key: string,
  findCaller: Lookup<IdentifiedCaller>,
  keyPrefix: string,
): IdentifiedCaller | Promise<IdentifiedCaller> {
  if (isMistypedKey(key, keyPrefix)) throw refused;
  const found = findCaller(hashKey(key));
  return found instanceof Promise ? found.then(requireKnown) : requireKnown(found);
}

function requireKnown(caller: IdentifiedCaller | undefined): IdentifiedCaller {
  if (caller === undefined) throw refused;
  return caller;
}

/**
 * @throws GatewayError 401 when the key is expired or revoked, with the error of an unknown key, and when it is disabled.
 */
export function requireValid(caller: IdentifiedCaller, now: number): void {
  if (now >= caller.refusedFrom) throw refused;
  if (caller.isDisabled === true) throw disabled;
}
