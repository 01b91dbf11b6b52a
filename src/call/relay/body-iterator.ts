/** A list of pieces will do as a body, as it does for `for await`. */
export type BodyIterator = AsyncIterator<Uint8Array> | Iterator<Uint8Array>;

export function iteratorOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): BodyIterator {
  return Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
}

/** The rest of the body is nobody's. Not waited for: a provider that does not heed its signal must not keep the client. */
export function leaveBody(iterator: BodyIterator | undefined): void {
  try {
    Promise.resolve(iterator?.return?.()).catch(() => {});
  } catch {}
}

/** The body of an answer that nobody reads, and that may be none. */
export function leaveUnread(body: AsyncIterable<Uint8Array>): void {
  try {
    leaveBody(iteratorOf(body));
  } catch {}
}
