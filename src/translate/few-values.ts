import { beyondTarget } from "../errors/target-limit.js";
import type { JsonRequest } from "../model-api/request/json-request.js";
import { moreValuesSteps } from "../wire/sliced/more-values-steps.js";
import type { Steps } from "../wire/slices.js";

/** Far more than a conversation and its tools hold: a translation makes values of all of them at once. */
export const mostValues = 2 ** 18;

/**
 * The bound of what is translated, whatever the protocols.
 * @param param - the member that holds the conversation.
 * @throws GatewayError 400, for this target alone.
 */
export function* fewValuesSteps({ body, leaps }: Pick<JsonRequest, "body" | "leaps">, param: string): Steps<void> {
  // A value has at least two bytes, with what stands between it and the next.
  if (body.length < mostValues || !(yield* moreValuesSteps(body, leaps, { all: mostValues }))) return;
  throw beyondTarget(param, `A request to this model must hold at most ${mostValues} JSON values. Shorten it.`);
}
