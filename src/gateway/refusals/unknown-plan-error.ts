import { UnknownTermsError } from "./unknown-terms-error.js";

/** There is no plan with this id. */
export class UnknownPlanError extends UnknownTermsError {
  override readonly name = "UnknownPlanError";
  override readonly status = 404;
  override readonly statusCode = 404;
}
