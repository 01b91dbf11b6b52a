import type { DirectCall } from "../../providers/direct-call.js";
import type { UpstreamCall } from "../../providers/upstream-provider.js";
import type { AbortNotifier } from "../abort-notifier.js";

/** A call but for its `signal`. */
export type UpstreamCallParts = DirectCall & { readonly notice: AbortNotifier };

/**
 * A call whose `signal` is made when it is first read. It is the call's own member, so that providers may spread the
 * call; and all calls share its getter: one of each call's own would give each an object layout of its own, which is slow
 * to make and lives until the next major collection, with all that it refers to.
 */
export function toUpstreamCall(parts: UpstreamCallParts): UpstreamCall {
  return Object.defineProperty(parts, "signal", signal) as UpstreamCallParts & Pick<UpstreamCall, "signal">;
}

const signal: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: UpstreamCallParts) {
    return this.notice.signal;
  },
};
