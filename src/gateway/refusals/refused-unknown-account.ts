import { accountWithoutPlan, type GatewayError } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { UnknownTermsError } from "./unknown-terms-error.js";

/**
 * What a caller of an account that is not there, or has no plan, gets without an API key: what its keys would get. Warns the operator, once for
 * each account.
 */
export function refusedUnknownAccount(cause: UnknownTermsError, account: string, warnOnce: Warn): GatewayError {
  const message = `Calls for the account ${JSON.stringify(account)} get a 403. ${cause.message}`;
  warnOnce({ code: "unknown_account", message, cause });
  return accountWithoutPlan();
}
