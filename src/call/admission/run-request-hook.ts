import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import { type CheckedAdmission, checkAdmission } from "../../hooks/check-admission.js";
import { isFinalError } from "../../hooks/final-error.js";
import { AbortNotifier } from "../abort-notifier.js";
import { clientLeft } from "../relay/abort-error.js";
import type { RequestHook } from "../request-hook.js";
import type { ReceivedCall } from "./check-call.js";
import { type HookedCall, toIncomingCall } from "./to-incoming-call.js";

/** What a hook has changed. */
export interface HookResult extends Omit<CheckedAdmission, "texts"> {
  /** The request with other texts; `undefined`: they are the same. */
  readonly body: Uint8Array | undefined;
}

/**
 * Runs the host's hook for a call.
 * @returns `undefined` where it changes nothing.
 * @throws GatewayError that the hook threw, or 503 when it failed; UpstreamError `aborted` when the client has left.
 */
export async function runRequestHook(
  { onRequest, limit }: RequestHook,
  call: HookedCall,
  warn: Warn,
): Promise<HookResult | undefined> {
  const { requestId, request } = call.received;
  const notice = new AbortNotifier();
  const departure = whenAborted(request.signal);
  try {
    const incoming = toIncomingCall(call, notice);
    const answered = new Promise<unknown>((resolve) => resolve(onRequest(incoming)));
    const admission = checkAdmission(await limit.race(Promise.race([answered, departure.left])));
    if (admission === undefined) return undefined;
    const { tags, headers, members, texts } = admission;
    return { tags, headers, members, body: texts && call.prompt.replace(texts) };
  } catch (thrown) {
    notice.abort();
    if (request.signal.aborted) throw clientLeft();
    if (isFinalError(thrown)) throw thrown;
    warn({ code: "hook_failed", message: "onRequest failed. The client got a 503.", cause: thrown, requestId });
    throw serviceUnavailable("Requests cannot be checked at the moment. Try again shortly.", thrown);
  } finally {
    departure.ignore();
  }
}

/** @returns a promise that rejects when the client leaves. */
function whenAborted(signal: ReceivedCall["request"]["signal"]): { left: Promise<never>; ignore: () => void } {
  let leave = (): void => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(clientLeft());
  });
  signal.addEventListener("abort", leave);
  return { left, ignore: () => signal.removeEventListener("abort", leave) };
}
