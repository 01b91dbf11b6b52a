import type { UpstreamCall } from "../providers/upstream-provider.js";
import type { AbortNotifier } from "./abort-notifier.js";

type Parts = Omit<UpstreamCall, "signal" | "notice"> & { notice: AbortNotifier };

/**
 * A call whose `signal` is made when it is first read. It is the call's own member, so that providers may spread the
 * call; and all calls share its getter: one of each call's own would give each an object layout of its own, which is slow
 * to make and lives until the next major collection, with all that it refers to.
 */
export function toUpstreamCall(parts: Parts): UpstreamCall {
  return Object.defineProperty(parts, "signal", signal) as Parts & Pick<UpstreamCall, "signal">;
}

const signal: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: Parts) {
    return this.notice.signal;
  },
};
