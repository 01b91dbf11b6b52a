/**
 * The entry of the model is not, or no more, as the caller expected it: it has another version, is gone, or is there
 * already. Nothing was written. Read it again, and decide anew.
 */
export class ModelConflictError extends Error {
  override readonly name = "ModelConflictError";
  /** The HTTP status that says so. */
  readonly status = 409;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 409;
}
