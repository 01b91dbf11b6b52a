import type { AbortNotice, UpstreamAnswer, UpstreamCall, UpstreamProvider } from "./upstream-provider.js";

/** A call as the gateway makes it: the `signal` is left out, which would have to be made. */
export type DirectCall = Omit<UpstreamCall, "signal"> & { readonly notice: AbortNotice };

/** An answer to the gateway itself, which does not spread it: its members may be its class's. */
export interface DirectAnswer extends UpstreamAnswer {
  /** All of the body, if it has come to its end already and was not iterated; then there is nothing left to iterate. */
  takeWhole?(): Uint8Array | undefined;
}

/** Is told when a request goes out. */
export interface HandoverListener {
  /** It is about to be written to a connection that stands; where that cannot be known, it is handed to who does it. */
  handedOver(): void;
}

/** Makes calls for the gateway itself. */
export type CallDirectly = (call: DirectCall, handover?: HandoverListener) => Promise<DirectAnswer>;

const direct = new WeakMap<UpstreamProvider["call"], CallDirectly>();

/**
 * The `call` of one of our own providers. The gateway makes its calls past it, see {@link directCallOf}: what hosts may do
 * with a call and an answer, such as spread them, costs more than the call. What a host puts in its place is another method.
 */
export function toProviderCall(callDirectly: CallDirectly): UpstreamProvider["call"] {
  const call = async (given: UpstreamCall): Promise<UpstreamAnswer> => {
    const { endpoint, model, body, stream, requestId } = given;
    const notice = given.notice ?? given.signal;
    const answer = await callDirectly({ endpoint, model, body, stream, requestId, notice });
    return { status: answer.status, headers: answer.headers, body: answer.body };
  };
  direct.set(call, callDirectly);
  return call;
}

/** What the method does in the end, if it is of {@link toProviderCall}. */
export function directCallOf(call: UpstreamProvider["call"]): CallDirectly | undefined {
  return direct.get(call);
}
