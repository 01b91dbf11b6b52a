/** There is no key with this id. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
  /** The HTTP status that says so. */
  readonly status = 404;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 404;
}
