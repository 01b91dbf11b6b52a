/** A body may also be a list of pieces, as in `for await`. */
export type BodyIterator = AsyncIterator<Uint8Array> | Iterator<Uint8Array>;

export function iteratorOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): BodyIterator {
  return Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
}

/** Ends the reading of a body. It does not wait: a provider that ignores its signal must not delay the client. */
export function leaveBody(iterator: BodyIterator | undefined): void {
  try {
    Promise.resolve(iterator?.return?.()).catch(() => {});
  } catch {}
}

/** Ends a body that is not read. The value may not be a body at all. */
export function leaveUnread(body: AsyncIterable<Uint8Array>): void {
  try {
    leaveBody(iteratorOf(body));
  } catch {}
}
