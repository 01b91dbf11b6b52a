import { accountWithoutPlan, type GatewayError } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";

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

/** There is no such account: it has no record in the account store, and no keys where these would do. */
export class UnknownAccountError extends UnknownTermsError {
  override readonly name = "UnknownAccountError";
  override readonly status = 404;
  override readonly statusCode = 404;
}

/** There is no plan with this id. */
export class UnknownPlanError extends UnknownTermsError {
  override readonly name = "UnknownPlanError";
  override readonly status = 404;
  override readonly statusCode = 404;
}

/** There is no key with this id. */
export class UnknownKeyError extends Error {
  override readonly name = "UnknownKeyError";
  /** The HTTP status that says so. */
  readonly status = 404;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 404;
}

/** The key is revoked or expired, so that nothing can follow it. */
export class KeyEndedError extends Error {
  override readonly name = "KeyEndedError";
  /** The HTTP status that says so. */
  readonly status = 409;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 409;
}

/**
 * What a caller of an account that is not there, or has no plan, gets without an API key: what its keys would get. Warns the operator, once for
 * each account.
 */
export function refusedUnknownAccount(cause: UnknownTermsError, account: string, warnOnce: Warn): GatewayError {
  const message = `Calls for the account ${JSON.stringify(account)} get a 403. ${cause.message}`;
  warnOnce({ code: "unknown_account", message, cause });
  return accountWithoutPlan();
}
