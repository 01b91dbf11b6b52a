import type { Drain } from "./client-left.js";

/**
 * A stream that is read to its end although its client has left.
 * @returns the stream for the client, and when it will have ended after its departure.
 */
export function drainable(
  pieces: AsyncIterable<Uint8Array>,
  drain: Drain,
  outputTokens: () => number,
): { body: AsyncIterable<Uint8Array>; ended: Promise<void> } {
  const iterator = pieces[Symbol.asyncIterator]();
  const ask = async (): Promise<IteratorResult<Uint8Array>> => {
    const result = await iterator.next();
    // Also of a piece that the client asked for before it left.
    drain.progress(outputTokens());
    return result;
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One after the other: what the client asked for last may be under way when it leaves. */
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    const result = last.then(ask, ask);
    last = result;
    return result;
  };
  let resolveEnded = (): void => {};
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });
  const readOn = async (): Promise<void> => {
    // A relay tells of failures in events, or to whoever settles: nothing is thrown that nobody knows of.
    try {
      while (!(await next()).done);
    } catch {}
    resolveEnded();
  };
  drain.whenLeft(() => void readOn());
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next,
      return: async () => {
        drain.clientGone();
        // The call had ended already, other than by its last piece.
        if (!drain.hasLeft) await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
  return { body, ended };
}
