import {
  type GatewayError,
  isGatewayError,
  ownKeyLimited,
  ownKeyRefused,
  ownKeyRequired,
  serviceUnavailable,
} from "../../errors/gateway-error.js";
import { isHeaderValue } from "../../providers/headers.js";
import type { OwnKeyCall, UpstreamProvider } from "../../providers/upstream-provider.js";
import type { Target } from "../../routing/target.js";
import type { CallServices } from "../call-services.js";
import type { CheckedCall, ReceivedCall } from "../checked-call.js";
import { clientLeft } from "../relay/abort-error.js";
import { untilAborted } from "../relay/until-aborted.js";

/** In characters. Each response is searched for it. */
const longestKey = 4096;

/**
 * Asks for the keys that the account has of its own with the model's servers. A call with one goes to the targets that take its
 * keys, and to no other: it never falls back on the operator's money.
 *
 * @throws GatewayError 400 where only an own key would do, 403 or 429 while its own keys rest, 503 where the host's function fails.
 */
export async function chooseTargets(
  services: CallServices,
  { request, requestId }: Pick<ReceivedCall, "request" | "requestId">,
  checked: CheckedCall,
): Promise<CheckedCall> {
  const { model, caller } = checked;
  const targets = checked.choice?.targets ?? model.route.order();
  const asked = model.route.knowOwnKeys.filter((provider) => targets.some((target) => target.provider === provider));
  if (asked.length === 0) return checked;

  let found: readonly (string | null | undefined)[];
  try {
    const call = ownKeyCall(checked);
    const answers = asked.map((provider) => findOwnKey(provider, call));
    found = await services.ownKeyLimit.race(untilAborted(request.signal, Promise.all(answers)));
  } catch (cause) {
    if (request.signal.aborted) throw clientLeft();
    if (isGatewayError(cause) && cause.code === "own_key_refused") throw cause;
    const names = targets.filter(({ provider }) => asked.includes(provider)).map(({ providerName }) => providerName);
    const which = [...new Set(names)].map((name) => `"${name}"`).join(" or ");
    const message = `The ownKey function of the provider ${which} failed. The client got a 503.`;
    services.warn({ code: "own_key_failed", message, cause, requestId });
    throw serviceUnavailable("Your own key cannot be looked up at the moment. Try again shortly.", cause);
  }

  const byProvider = new Map(asked.map((provider, index) => [provider, found[index]]));
  const ownKeys = new Map<UpstreamProvider, string>();
  for (const [provider, key] of byProvider) if (typeof key === "string") ownKeys.set(provider, key);
  if (ownKeys.size > 0) {
    const own = targets.filter(({ provider }) => ownKeys.has(provider));
    return { ...checked, choice: { targets: withoutResting(services, caller.account, own, ownKeys), ownKeys } };
  }
  const open = targets.filter(({ provider }) => byProvider.get(provider) !== null);
  if (open.length === 0) throw ownKeyRequired(model.alias ?? model.id);
  return open.length === targets.length ? checked : { ...checked, choice: { targets: open, ownKeys: undefined } };
}

function ownKeyCall({ caller, model, tags }: CheckedCall): OwnKeyCall {
  const { account, keyId, plan } = caller;
  return { account, ...(keyId !== undefined && { keyId }), plan, ...(tags !== undefined && { tags }), model: model.id };
}

/** @throws TypeError for what is no text, GatewayError 403 for one that is no key. Neither contains what was given. */
async function findOwnKey(provider: UpstreamProvider, call: OwnKeyCall): Promise<string | null | undefined> {
  const key: unknown = await provider.ownKey?.(call);
  if (key === null || key === undefined) return key;
  if (typeof key !== "string") throw new TypeError("ownKey must give a string, null, or undefined.");
  if (key !== "" && key.length <= longestKey && isHeaderValue(key)) return key;
  // No server would take it: the account has stored something else, or a part of it.
  throw ownKeyRefused(new TypeError(`The key does not fit into a header, or has more than ${longestKey} characters.`));
}

/** @throws GatewayError what the server of the last one said, where all of them rest. */
function withoutResting(
  { ownKeyRests, clock }: CallServices,
  account: string,
  targets: readonly Target[],
  ownKeys: ReadonlyMap<UpstreamProvider, string>,
): readonly Target[] {
  const now = clock.now();
  let refusal: GatewayError | undefined;
  const awake = targets.filter((target) => {
    const rest = ownKeyRests.of(account, target, ownKeys.get(target.provider) as string, now);
    if (rest === undefined) return true;
    const seconds = String(Math.max(1, Math.ceil((rest.until - now) / 1_000)));
    const { error } = rest;
    refusal = error.status === 429 ? ownKeyLimited(seconds, error.cause) : error;
    return false;
  });
  if (awake.length === 0 && refusal !== undefined) throw refusal;
  return awake;
}
