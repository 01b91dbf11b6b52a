/**
 * The account's plan or anchor is not known: none of its keys names a plan, its keys differ, or they cannot be listed. The
 * message says what to pass. Those that are not there at all have errors of their own, {@link UnknownAccountError} and
 * {@link UnknownPlanError}, which are of this class, too.
 */
export class UnknownTermsError extends Error {
  override readonly name: string = "UnknownTermsError";
  /** The HTTP status that says so. */
  readonly status: number = 400;
  /** The same, for frameworks that read this name. */
  readonly statusCode: number = 400;
}
