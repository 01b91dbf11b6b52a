import type { CallServices } from "../call-services.js";
import type { CheckedCall } from "../checked-call.js";
import type { ReceivedCall } from "./check-call.js";
import { completeCall } from "./complete-call.js";
import { rebudgeted } from "./rebudgeted.js";
import { ReceivedPrompt } from "./received-prompt.js";
import { runRequestHook } from "./run-request-hook.js";

/**
 * Applies what the host's hook says of a call. Only a request with other texts is parsed again.
 * @param body - as the client sent it.
 * @throws GatewayError that the hook threw, 503 when it failed, 400 when the request with other texts is not valid.
 */
export async function reviewCall(
  services: CallServices,
  received: ReceivedCall,
  checked: CheckedCall,
  body: Uint8Array,
): Promise<CheckedCall> {
  const { requestHook, warn } = services;
  if (requestHook === undefined) return checked;
  const { seal } = services.operations;
  const { fields = body } = checked.request;
  const prompt = new ReceivedPrompt(fields, received.operation.prompt, { seal, account: received.caller.account });
  const result = await runRequestHook(requestHook, { received, checked, prompt }, warn);
  if (result === undefined) return checked;
  const { headers, members } = result;
  const tagged = result.tags === undefined ? checked : { ...checked, tags: { ...checked.tags, ...result.tags } };
  if (tagged.tags !== undefined) received.observer.tagged(tagged.tags);
  const reviewed = tagged === checked ? checked : await rebudgeted(services, tagged);
  const additions = headers === undefined && members === undefined ? undefined : { headers, members };
  if (result.body === undefined) return { ...reviewed, additions };
  const request = await (checked.request.withFields === undefined
    ? received.operation.parse(result.body, services.operations, received)
    : checked.request.withFields(result.body));
  const demand = request.demand(checked.model, checked.allowance.defaultOutputTokens);
  return await completeCall(services, received, { ...reviewed, request, demand, additions, body: result.body });
}
