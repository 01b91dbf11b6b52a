import { UpstreamError } from "../../providers/upstream-provider.js";
import { iteratorOf, leaveBody } from "../../wire/pieces/body-iterator.js";
import type { AbortNotifier } from "../abort-notifier.js";

/** The result of an aborted call is ignored, whether or not the provider obeys its signal. */
export function brokenOff(): UpstreamError {
  return new UpstreamError("aborted", "The call was aborted.");
}

/** Gets a body that is read. What it gets after its end or a failure has no meaning. */
export interface BodyReader {
  /** A piece has come. @returns whether to read on. */
  take(piece: Uint8Array): boolean;
  /** All has come, or as much as it took. */
  ended(): void;
  /** The body broke off. @param error - {@link UpstreamError} `aborted` where the call was aborted. */
  brokeOff(error: unknown): void;
}

/** Reads a provider's body piece by piece until its end, or until the call is aborted. */
export function readUntilAborted(notice: AbortNotifier, body: AsyncIterable<Uint8Array>, reader: BodyReader): void {
  const iterator = iteratorOf(body);
  const fail = (error: unknown): void => reader.brokeOff(error);
  const breakOff = (): void => {
    leaveBody(iterator);
    reader.brokeOff(brokenOff());
  };
  const took = (result: IteratorResult<Uint8Array>): void => {
    if (notice.aborted) return;
    try {
      if (!result.done) {
        if (reader.take(result.value)) {
          Promise.resolve(iterator.next()).then(took, fail);
          return;
        }
        leaveBody(iterator);
      }
      notice.removeEventListener("abort", breakOff);
      reader.ended();
    } catch (error) {
      leaveBody(iterator);
      reader.brokeOff(error);
    }
  };
  if (notice.aborted) {
    breakOff();
    return;
  }
  notice.addEventListener("abort", breakOff);
  Promise.resolve(iterator.next()).then(took, fail);
}
