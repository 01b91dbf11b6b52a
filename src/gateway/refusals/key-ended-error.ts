/** The key is revoked or expired, so that nothing can follow it. */
export class KeyEndedError extends Error {
  override readonly name = "KeyEndedError";
  /** The HTTP status that says so. */
  readonly status = 409;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 409;
}
