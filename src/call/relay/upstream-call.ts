import { Buffer } from "node:buffer";
import type { Exchange } from "../../operations/operation.js";
import type { DirectCall } from "../../providers/direct-call.js";
import type { UpstreamCall } from "../../providers/upstream-provider.js";
import type { AbortNotifier } from "../abort-notifier.js";

/** An upstream call without its `signal`. */
export type UpstreamCallParts = DirectCall & { readonly notice: AbortNotifier };

/**
 * Adds a `signal` that is created when it is first read. It is an own property, so that providers can spread the call.
 * All calls share one getter: a getter for each call would give each object a hidden class of its own. Such classes are
 * slow to make, and stay in memory until the next major collection.
 */
export function toUpstreamCall(
  parts: UpstreamCallParts,
  made: Pick<Exchange, "body" | "pieces">,
  wantsBytes = false,
): UpstreamCall {
  const { body, headers, stream } = parts;
  if (!(body instanceof Uint8Array)) {
    Object.defineProperty(parts, "body", bodyOf(body === made.pieces ? made : new JoinedBody(body)));
  }
  const call: Partial<UpstreamCall> = parts as UpstreamCallParts & UpstreamCall;
  call.contentType = headers?.["content-type"] ?? "application/json";
  call.expects = stream ? "events" : wantsBytes ? "bytes" : "document";
  return Object.defineProperty(parts, "signal", signal) as UpstreamCallParts & UpstreamCall;
}

class JoinedBody {
  readonly #pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  get body(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }
}

/** A long body is put together when it is first read. It can be set, as all members can. */
function bodyOf(made: Pick<Exchange, "body">): PropertyDescriptor {
  return {
    enumerable: true,
    configurable: true,
    get: () => made.body,
    set(value: unknown) {
      Object.defineProperty(this, "body", { value, enumerable: true, configurable: true, writable: true });
    },
  };
}

const signal: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: UpstreamCallParts) {
    return this.notice.signal;
  },
};
