import { Buffer } from "node:buffer";
import { isSameData } from "../check/plain-data.js";
import type { ResponseMark } from "../prices/progress.js";
import type { JsonRequest } from "../protocols/shared/json-request.js";
import type { ProtocolTable } from "../protocols/shared/protocol-table.js";
import type { AbortNotice, UpstreamCall, UpstreamProvider, UpstreamResponse } from "./upstream-provider.js";

/**
 * A call as the gateway makes it: the `signal` is left out, which would have to be made, and the body of a long request is
 * in pieces.
 */
export type DirectCall = Omit<UpstreamCall, "signal" | "body" | "contentType"> & {
  readonly notice: AbortNotice;
  readonly body: RequestBytes;
};

/** The bytes of a request, or what makes them in this order. */
export type RequestBytes = Uint8Array | readonly Uint8Array[];

/** A response to the gateway itself, which does not spread it: its members may be its class's. */
export interface DirectResponse extends UpstreamResponse {
  /** All of the body, if it has come to its end already and was not iterated; then there is nothing left to iterate. */
  takeWhole?(): Uint8Array | undefined;
}

/** On what terms a response comes that the model has not made for this call, or that may be given again. */
export interface ResponseTerms {
  /** Headers of the client's response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The share of its price that is charged, from 0 to 1. Absent: the model has made it for this call. */
  readonly share?: number;
  /** The call has come to a good end with this response, and no guard had anything against it. */
  completed?(mark: ResponseMark | undefined): void;
  /** The response could not be used. */
  failed?(): void;
}

/** The client's call that a request is sent for, as far as providers of the gateway's own may see it. */
export interface ClientCall {
  readonly client: { header(name: string): string | undefined };
  readonly operation: { readonly table: ProtocolTable | undefined };
  readonly admission: {
    readonly callId: string;
    readonly request: { readonly comparable: JsonRequest | undefined };
    /** What the host's hook adds to what the upstream gets; `undefined`: nothing. */
    readonly additions: object | undefined;
  };
  readonly services: {
    readonly clock: { now(): number };
    readonly background: { add(work: Promise<unknown>, owner?: string): void };
    warn(warning: { code: "response_cache_failed"; message: string; cause: unknown }): void;
  };
}

/** Notified when a request goes out, and of a response that comes on terms of its own. */
export interface HandoverListener {
  /**
   * The request is about to be written to an open connection. Where that cannot be seen, it is about to be passed to
   * `fetch`.
   */
  handedOver(): void;
  /** Called before the response is returned. */
  respondsOn(terms: ResponseTerms): void;
}

/** Makes calls for the gateway itself. @param client - whose call it is; absent: not the gateway's. */
export type CallDirectly = (
  call: DirectCall,
  handover?: HandoverListener,
  client?: ClientCall,
) => Promise<DirectResponse>;

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
  const call = async (given: UpstreamCall): Promise<UpstreamResponse> => {
    const { endpoint, model, body, stream, requestId, contentType, expects, outputCap, account, keyId, tags } = given;
    const isForm = contentType !== undefined && contentType !== "application/json";
    const headers = isForm ? { ...given.headers, "content-type": contentType } : given.headers;
    const { ownKey } = given;
    const notice = given.notice ?? given.signal;
    const answer = await callDirectly({
      ...{ endpoint, model, body, stream, requestId, notice, headers, expects, outputCap, account, keyId, tags },
      ...(ownKey !== undefined && { ownKey }),
    });
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

/** What tells whether another provider is the same: what it was made from, or itself. */
export function settingsOf(provider: UpstreamProvider): object {
  return ownOf(provider)?.settings() ?? provider;
}

function ownOf(provider: UpstreamProvider): DirectProvider[typeof direct] {
  const own = (provider as DirectProvider)[direct];
  return own?.call === provider.call ? own : undefined;
}

/** Calls any provider, as the gateway does. Throws where the provider throws. */
export function callProvider(
  provider: UpstreamProvider,
  call: DirectCall,
  listener?: HandoverListener,
  client?: ClientCall,
): Promise<DirectResponse> {
  const callDirectly = directCallOf(provider);
  if (callDirectly !== undefined) return callDirectly(call, listener, client);
  // A host's own provider may do anything with its call.
  listener?.handedOver();
  return provider.call(toUpstreamCall(call));
}

/**
 * Adds a `signal` that is created when it is first read. It is an own property, so that providers can spread the call.
 * All calls share one getter: a getter for each call would give each object a hidden class of its own. Such classes are
 * slow to make, and stay in memory until the next major collection.
 */
function toUpstreamCall(parts: DirectCall): UpstreamCall {
  const { body, headers } = parts;
  if (!(body instanceof Uint8Array)) Object.defineProperty(parts, "body", joinedBody(body));
  const call = parts as DirectCall & Omit<UpstreamCall, "signal" | "body">;
  call.contentType = headers?.["content-type"] ?? "application/json";
  return Object.defineProperty(call, "signal", signal) as UpstreamCall;
}

/** A long body is put together when it is first read. It can be set, as all members can. */
function joinedBody(pieces: readonly Uint8Array[]): PropertyDescriptor {
  let joined: Uint8Array | undefined;
  return {
    enumerable: true,
    configurable: true,
    get: () => {
      joined ??= Buffer.concat(pieces);
      return joined;
    },
    set(value: unknown) {
      Object.defineProperty(this, "body", { value, enumerable: true, configurable: true, writable: true });
    },
  };
}

/** The gateway's own notices make a signal when it is first asked for. */
const signal: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: { notice: AbortNotice & { signal?: AbortSignal } }) {
    return this.notice.signal ?? this.notice;
  },
};
