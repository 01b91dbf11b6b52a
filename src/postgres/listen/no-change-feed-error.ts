/** The pool has no notices of changes. The message says what to do about it; the gateway shows it in a warning. */
export class NoChangeFeedError extends Error {
  override readonly name = "NoChangeFeedError";
}
