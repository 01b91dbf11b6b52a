import { type GatewayError, isGatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import { storeFault } from "../../events/store-fault.js";
import { LedgerUnavailableError } from "../../ledger/credit-ledger.js";
import { TimeLimit } from "../../ledger/guard/time-limit.js";
import { isLedgerRefusal } from "../../ledger/ledger-refusal.js";
import { isError, isPromiseLike } from "../../runtime/host-code.js";
import { UnknownTermsError } from "./errors.js";

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
