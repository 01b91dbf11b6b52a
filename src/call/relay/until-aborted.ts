import { UpstreamError } from "../../providers/upstream-provider.js";
import { iteratorOf, leaveBody } from "../../wire/pieces/body-iterator.js";
import type { AbortNotifier } from "../abort-notifier.js";

/** The result of an aborted call is ignored, whether or not the provider obeys its signal. */
export function brokenOff(): UpstreamError {
  return new UpstreamError("aborted", "The call was aborted.");
}

/**
 * Reads a provider's body piece by piece until its end, or until the call is aborted.
 * @param take - gets each piece. @returns whether to read on.
 * @throws UpstreamError `aborted`
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
        if (!result.done && take(result.value)) {
          read();
          return;
        }
        if (!result.done) leaveBody(iterator);
        notice.removeEventListener("abort", breakOff);
        resolve();
      } catch (error) {
        leaveBody(iterator);
        reject(error);
      }
    };
    const read = (): void => {
      Promise.resolve(iterator.next()).then(took, reject);
    };
    if (notice.aborted) {
      breakOff();
      return;
    }
    notice.addEventListener("abort", breakOff);
    read();
  });
}
