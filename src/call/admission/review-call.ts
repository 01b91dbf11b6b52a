import { rulesOf } from "../../access/entitlement.js";
import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { IncomingCall } from "../../hooks/admission.js";
import { type CheckedAdmission, checkAdmission, isFinalError } from "../../hooks/check-admission.js";
import { AbortNotifier } from "../abort-notifier.js";
import type { CallServices, RequestHook } from "../call-services.js";
import type { CheckedCall, ReceivedCall } from "../checked-call.js";
import { clientLeft } from "../relay/abort-error.js";
import { untilAborted } from "../relay/until-aborted.js";
import { completeCall } from "./complete-call.js";
import { ReceivedPrompt } from "./received-prompt.js";

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
  const { headers, members, targets } = result;
  const tagged = result.tags === undefined ? checked : { ...checked, tags: { ...checked.tags, ...result.tags } };
  if (tagged.tags !== undefined) received.observer.tagged(tagged.tags);
  const budgeted = tagged === checked ? checked : await rebudgeted(services, tagged);
  const reviewed = targets === undefined ? budgeted : withTargets(services, budgeted, targets);
  const additions = headers === undefined && members === undefined ? undefined : { headers, members };
  if (result.body === undefined) return { ...reviewed, additions };
  const request = await (checked.request.withFields === undefined
    ? received.operation.parse(result.body, services.operations, received)
    : checked.request.withFields(result.body));
  const demand = request.demand(checked.model, checked.allowance.defaultOutputTokens);
  return await completeCall(services, received, { ...reviewed, request, demand, additions, body: result.body });
}

/** @throws GatewayError 503 where the hook has named no target of the model's. */
function withTargets({ warn }: CallServices, call: CheckedCall, names: readonly string[]): CheckedCall {
  const { model, requestId } = call;
  const targets = names.flatMap((name) => model.route.targets.filter((target) => target.name === name));
  if (targets.length > 0) return { ...call, choice: { targets, ownKeys: undefined } };
  const known = model.route.targets.map(({ name }) => `"${name}"`).join(", ");
  const message = `onRequest named no target of the model "${model.id}", which has ${known}. The client got a 503.`;
  warn({ code: "hook_failed", message, requestId });
  throw serviceUnavailable("This model cannot be used at the moment. Try again later.");
}

/** What a hook has changed. */
interface HookResult extends Omit<CheckedAdmission, "texts"> {
  /** The request with other texts; `undefined`: they are the same. */
  readonly body: Uint8Array | undefined;
}

/**
 * Runs the host's hook for a call.
 * @returns `undefined` where it changes nothing.
 * @throws GatewayError that the hook threw, or 503 when it failed; UpstreamError `aborted` when the client has left.
 */
async function runRequestHook(
  { onRequest, limit }: RequestHook,
  call: HookedCall,
  warn: Warn,
): Promise<HookResult | undefined> {
  const { requestId, request } = call.received;
  const notice = new AbortNotifier();
  try {
    const incoming = toIncomingCall(call, notice);
    const answered = new Promise<unknown>((resolve) => resolve(onRequest(incoming)));
    const admission = checkAdmission(await limit.race(untilAborted(request.signal, answered)));
    if (admission === undefined) return undefined;
    const { tags, headers, members, targets, texts } = admission;
    return { tags, headers, members, targets, body: texts && call.prompt.replace(texts) };
  } catch (thrown) {
    notice.abort();
    if (request.signal.aborted) throw clientLeft();
    if (isFinalError(thrown)) throw thrown;
    warn({ code: "hook_failed", message: "onRequest failed. The client got a 503.", cause: thrown, requestId });
    throw serviceUnavailable("Requests cannot be checked at the moment. Try again shortly.", thrown);
  }
}

/** What a hook is run for. */
interface HookedCall {
  readonly received: ReceivedCall;
  readonly checked: CheckedCall;
  readonly prompt: ReceivedPrompt;
}

/** What the host's hook learns of a call. Whatever takes time is made when the hook asks for it. */
function toIncomingCall({ received, checked, prompt }: HookedCall, notice: AbortNotifier): IncomingCall {
  const { requestId, request, caller, operation } = received;
  const { source, account, keyId, plan, tags } = caller;
  const { id, alias } = checked.model;
  return {
    requestId,
    source,
    account,
    ...(keyId === undefined ? undefined : { keyId }),
    plan,
    model: id,
    ...(alias === undefined ? undefined : { requestedModel: alias }),
    endpoint: operation.name,
    stream: checked.request.stream,
    ...(tags === undefined ? undefined : { tags }),
    get signal() {
      return notice.signal;
    },
    header: (name) => request.header(name.toLowerCase()),
    texts: () => prompt.texts(),
  };
}

/**
 * A call that the host's hook has tagged, under the budgets of all its tags.
 * @throws GatewayError 403 for a budget that is suspended or excludes the model, 503 when a store fails.
 */
async function rebudgeted({ applyBudgets, entitlements }: CallServices, call: CheckedCall): Promise<CheckedCall> {
  const { caller: earlier, allowance, model, tags = {} } = call;
  const caller = await applyBudgets(earlier.unbudgeted ?? earlier, tags);
  if (caller === earlier) return call;
  entitlements.requireAllowed(caller, allowance, model);
  return { ...call, caller, rules: rulesOf(caller, allowance, model.id) };
}
