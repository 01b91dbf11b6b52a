import { Buffer } from "node:buffer";
import {
  type ClientCall,
  type DirectAnswer,
  type DirectCall,
  directCallOf,
  type HandoverListener,
} from "./direct-call.js";
import type { AbortNotice, UpstreamCall, UpstreamProvider } from "./upstream-provider.js";

/** Calls any provider, as the gateway does. Throws where the provider throws. */
export function callProvider(
  provider: UpstreamProvider,
  call: DirectCall,
  listener?: HandoverListener,
  client?: ClientCall,
): Promise<DirectAnswer> {
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
