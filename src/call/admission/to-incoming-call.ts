import type { IncomingCall } from "../../hooks/incoming-call.js";
import type { AbortNotifier } from "../abort-notifier.js";
import type { CheckedCall } from "../checked-call.js";
import type { ReceivedCall } from "./check-call.js";
import type { ReceivedPrompt } from "./received-prompt.js";

/** What a hook is run for. */
export interface HookedCall {
  readonly received: ReceivedCall;
  readonly checked: CheckedCall;
  readonly prompt: ReceivedPrompt;
}

/** What the host's hook learns of a call. Whatever takes time is made when the hook asks for it. */
export function toIncomingCall({ received, checked, prompt }: HookedCall, notice: AbortNotifier): IncomingCall {
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
