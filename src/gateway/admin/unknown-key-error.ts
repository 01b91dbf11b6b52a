/** There is no key with this id. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
}
