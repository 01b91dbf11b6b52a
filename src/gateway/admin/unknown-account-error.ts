/** There is no account with this id in the account store. */
export class UnknownAccountError extends Error {
  override readonly name = "UnknownAccountError";
  /** The HTTP status that says so. */
  readonly status = 404;
}
