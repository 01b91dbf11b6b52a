import { isSameData } from "../check/is-same-data.js";
import type { AbortNotice, UpstreamAnswer, UpstreamCall, UpstreamProvider } from "./upstream-provider.js";

/**
 * A call as the gateway makes it: the `signal` is left out, which would have to be made, and the body of a long request is
 * in pieces.
 */
export type DirectCall = Omit<UpstreamCall, "signal" | "body" | "contentType" | "expects"> & {
  readonly notice: AbortNotice;
  readonly body: RequestBytes;
};

/** The bytes of a request, or what makes them in this order. */
export type RequestBytes = Uint8Array | readonly Uint8Array[];

/** A response to the gateway itself, which does not spread it: its members may be its class's. */
export interface DirectAnswer extends UpstreamAnswer {
  /** All of the body, if it has come to its end already and was not iterated; then there is nothing left to iterate. */
  takeWhole?(): Uint8Array | undefined;
}

/** Notified when a request goes out. */
export interface HandoverListener {
  /**
   * The request is about to be written to an open connection. Where that cannot be seen, it is about to be passed to
   * `fetch`.
   */
  handedOver(): void;
}

/** Makes calls for the gateway itself. */
export type CallDirectly = (call: DirectCall, handover?: HandoverListener) => Promise<DirectAnswer>;

const direct = Symbol("infergate.direct");

interface DirectProvider extends UpstreamProvider {
  /** `call` as it was made, and what it does in the end. */
  readonly [direct]?: {
    readonly call: UpstreamProvider["call"];
    readonly callDirectly: CallDirectly;
    /** A function, so that whoever looks at a provider sees no key. */
    readonly settings: () => object;
  };
}

/**
 * One of the gateway's own providers. The gateway makes its calls past `call`, see {@link directCallOf}: what hosts may
 * do with a call and a response, such as spread them, costs more than the call. A copy of the provider has no direct
 * call, and neither has one whose `call` was replaced.
 *
 * @param settings - what it was made from, see {@link hasSameSettings}.
 */
export function toDirectProvider(
  provider: Omit<UpstreamProvider, "call">,
  callDirectly: CallDirectly,
  settings: object,
): UpstreamProvider {
  const call = async (given: UpstreamCall): Promise<UpstreamAnswer> => {
    const { endpoint, model, body, stream, requestId, contentType } = given;
    const isForm = contentType !== undefined && contentType !== "application/json";
    const headers = isForm ? { ...given.headers, "content-type": contentType } : given.headers;
    const notice = given.notice ?? given.signal;
    const answer = await callDirectly({ endpoint, model, body, stream, requestId, notice, headers });
    return { status: answer.status, headers: answer.headers, body: answer.body };
  };
  return Object.defineProperty({ ...provider, call }, direct, {
    value: { call, callDirectly, settings: () => settings },
  });
}

/** What the provider's `call` does in the end, if the provider is one of {@link toDirectProvider}. */
export function directCallOf(provider: UpstreamProvider): CallDirectly | undefined {
  return ownOf(provider)?.callDirectly;
}

/** Whether both are providers of {@link toDirectProvider}, made from the same settings. */
export function hasSameSettings(one: UpstreamProvider, other: UpstreamProvider): boolean {
  const [own, others] = [ownOf(one), ownOf(other)];
  return own !== undefined && others !== undefined && isSameData(own.settings(), others.settings());
}

function ownOf(provider: UpstreamProvider): DirectProvider[typeof direct] {
  const own = (provider as DirectProvider)[direct];
  return own?.call === provider.call ? own : undefined;
}
