import type { Departure } from "./departure.js";

/**
 * Makes a stream that is read to its end although its client has left.
 * @returns the stream for the client, and when it will have ended after the client's departure.
 */
export function readToEnd(
  pieces: AsyncIterable<Uint8Array>,
  departure: Departure,
  outputTokens: () => number,
): { body: AsyncIterable<Uint8Array>; ended: Promise<void> } {
  const iterator = pieces[Symbol.asyncIterator]();
  const read = async (): Promise<IteratorResult<Uint8Array>> => {
    const result = await iterator.next();
    // Also of a piece that the client wanted before it left.
    departure.progress(outputTokens());
    return result;
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: what the client wanted last may be under way when it leaves. */
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
    // A relay reports failures in events, or to whoever settles: nothing is thrown that is not known there.
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
        // The call had ended already, other than by its last piece.
        if (!departure.hasLeft) await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
  return { body, ended };
}
