import { UnknownTermsError } from "./unknown-terms-error.js";

/** There is no such account: it has no record in the account store, and no keys where these would do. */
export class UnknownAccountError extends UnknownTermsError {
  override readonly name = "UnknownAccountError";
  override readonly status = 404;
  override readonly statusCode = 404;
}
