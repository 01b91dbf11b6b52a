import { type AbortNotice, UpstreamError } from "../../providers/upstream-provider.js";
import { iteratorOf, leaveBody } from "../../wire/piece-source.js";
import type { AbortNotifier } from "../abort-notifier.js";

/** The result of an aborted call is ignored, whether or not the provider obeys its signal. */
export function brokenOff(): UpstreamError {
  return new UpstreamError("aborted", "The call was aborted.");
}

/**
 * Waits for something of a provider or of the host's code, at most until the call is aborted, or its client has left.
 * @param cameLate - gets what comes after that.
 * @throws UpstreamError `aborted`, and what the promise rejects with.
 */
export function untilAborted<Value>(
  notice: AbortNotice,
  awaited: Promise<Value>,
  cameLate?: (value: Value) => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const breakOff = (): void => reject(brokenOff());
    awaited.then(
      (value) => {
        notice.removeEventListener("abort", breakOff);
        if (notice.aborted) cameLate?.(value);
        resolve(value);
      },
      (error) => {
        notice.removeEventListener("abort", breakOff);
        reject(error);
      },
    );
    if (notice.aborted) breakOff();
    else notice.addEventListener("abort", breakOff);
  });
}

/**
 * Reads a provider's body piece by piece until its end, or until the call is aborted.
 * @param take - gets each piece. @returns whether to read on.
 * @throws UpstreamError `aborted`, and what the body breaks off with.
 */
export function readUntilAborted(
  notice: AbortNotifier,
  body: AsyncIterable<Uint8Array>,
  take: (piece: Uint8Array) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const iterator = iteratorOf(body);
    const breakOff = (): void => {
      leaveBody(iterator);
      reject(brokenOff());
    };
    const took = (result: IteratorResult<Uint8Array>): void => {
      if (notice.aborted) return;
      try {
        if (!result.done) {
          if (take(result.value)) {
            Promise.resolve(iterator.next()).then(took, reject);
            return;
          }
          leaveBody(iterator);
        }
        notice.removeEventListener("abort", breakOff);
        resolve();
      } catch (error) {
        leaveBody(iterator);
        reject(error);
      }
    };
    if (notice.aborted) {
      breakOff();
      return;
    }
    notice.addEventListener("abort", breakOff);
    Promise.resolve(iterator.next()).then(took, reject);
  });
}
