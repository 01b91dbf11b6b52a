/** There is no key of the id. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
}
