import {
  accountWithoutPlan,
  type GatewayError,
  isGatewayError,
  serviceUnavailable,
} from "../../errors/gateway-error.js";
import { storeFault } from "../../events/store-fault.js";
import type { Warn } from "../../events/warning.js";
import { LedgerUnavailableError } from "../../ledger/credit-ledger.js";
import { TimeLimit } from "../../ledger/guard/time-limit.js";
import { isLedgerRefusal } from "../../ledger/ledger-refusal.js";
import { isError, isPromiseLike } from "../../runtime/host-code.js";

/** What a host gives the gateway to keep data in. */
export type StoreKind =
  | "key"
  | "plan"
  | "account"
  | "budget"
  | "model"
  | "response"
  | "provider"
  | "audit"
  | "request log";

/** Whoever manages accounts waits no longer. To forget an account may take as long as it has data. */
const longestMs = 30_000;

/**
 * Asks a store for the management API. Frameworks send an error's message to the client, and a driver's names hosts and
 * users: it is the `cause` alone of what is thrown.
 * @param by - the public method, for the error.
 * @throws GatewayError 503 when the store fails, or has no response in time; what it throws on purpose, such as an AccountConflictError.
 */
export async function fromStore<Result>(
  by: string,
  kind: StoreKind,
  ask: () => Promise<Result> | Result,
  maxMs = longestMs,
): Promise<Result> {
  try {
    const asked = ask();
    if (!isPromiseLike(asked) || maxMs === Number.POSITIVE_INFINITY) return await asked;
    // With a timer of its own: it ends with the question. A write may take effect after that all the same.
    return await new TimeLimit(maxMs, maxMs, true).race(asked);
  } catch (cause) {
    throw isMeant(cause) ? cause : storeFailure(by, kind, cause);
  }
}

/**
 * As {@link fromStore}, of the ledger.
 * @throws LedgerUnavailableError when it fails; LedgerConflictError, LedgerInputError or LedgerClockError, as they are.
 */
export async function fromLedger<Result>(by: string, ask: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await ask();
  } catch (cause) {
    throw ledgerFault(by, cause);
  }
}

/** @returns what {@link fromLedger} throws. */
export function ledgerFault(by: string, cause: unknown): unknown {
  if (isMeant(cause) || isLedgerRefusal(cause)) return cause;
  return new LedgerUnavailableError(`${by}: the ledger ${howItFailed(cause)}`, { cause });
}

function storeFailure(by: string, kind: StoreKind, cause: unknown): GatewayError {
  const failed = kind === "provider" ? "a provider" : `the ${kind} store`;
  return serviceUnavailable(`${by}: ${failed} ${howItFailed(cause)}`, cause);
}

function howItFailed(cause: unknown): string {
  const fault = storeFault(cause);
  return fault === undefined
    ? "failed, or cannot be reached. Try again shortly."
    : `failed. What is wrong with its database: ${fault}.`;
}

const meantNames = ["AccountConflictError", "ModelConflictError"];

/** By name and shape, since it may come from another copy of the package. A driver's errors may have a `status` of their own. */
function isMeant(error: unknown): boolean {
  if (isGatewayError(error) || error instanceof UnknownTermsError) return true;
  if (error instanceof TypeError) return "statusCode" in error;
  return isError(error) && meantNames.includes(error.name);
}

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
