import type { Departure } from "./departure.js";

/**
 * Wraps a stream so that it is read to its end even after its client has left.
 * @returns the stream for the client, and a promise of the end of the reading that follows the client's departure.
 */
export function readToEnd(
  pieces: AsyncIterable<Uint8Array>,
  departure: Departure,
  outputTokens: () => number,
): { body: AsyncIterable<Uint8Array>; ended: Promise<void> } {
  const iterator = pieces[Symbol.asyncIterator]();
  const read = async (): Promise<IteratorResult<Uint8Array>> => {
    const result = await iterator.next();
    // The client may have left while it waited for this piece.
    departure.progress(outputTokens());
    return result;
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One read at a time: the client's last read may be in progress when the client leaves. */
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    const result = last.then(read, read);
    last = result;
    return result;
  };
  let resolveEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });
  const readOn = async (): Promise<void> => {
    // A relay reports failures as events, or to the settlement. An error thrown here is known there already.
    try {
      while (!(await next()).done);
    } catch {}
    resolveEnded();
  };
  departure.whenLeft(() => void readOn());
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next,
      return: async () => {
        departure.clientGone();
        // The call had ended before its last piece.
        if (!departure.hasLeft) await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
  return { body, ended };
}
