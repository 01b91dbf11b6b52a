import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { AccountCredits, Lease, ReserveResult } from "../../ledger/credit-ledger.js";
import type { Micro } from "../../metering/micro.js";
import type { CallServices } from "../call-services.js";
import type { CheckedCall } from "../checked-call.js";
import { ledgerFailure } from "../ledger-failure.js";
import { denialError } from "./denial.js";

/** Credits that are held for one call. */
export interface Reservation {
  readonly lease: Lease;
  readonly heldMicro: Micro;
  /** The account's credits after the admission. */
  readonly credits: AccountCredits;
}

/**
 * Holds the most that the call can cost.
 * @returns `undefined` for a model that is free: its calls touch no ledger.
 * @throws GatewayError 429 when the account's credits do not cover it, 503 when the ledger fails.
 */
export async function holdCredits(
  { ledger, leaseMs, warn }: CallServices,
  { requestId, callId, caller, allowance, model, demand, admittedAt }: CheckedCall,
): Promise<Reservation | undefined> {
  if (model.price.free) return undefined;
  const limits = caller.calendar.limits(allowance.credits, allowance.sessionMs, admittedAt);
  const amountMicro = model.price.upperBound(demand.promptTokens, demand.outputTokens);
  let result: ReserveResult;
  try {
    result = await ledger.reserve({ id: callId, account: caller.account, amountMicro, limits, leaseMs });
  } catch (cause) {
    warn({ code: "ledger_failed", message: ledgerFailure("reserve", cause), cause, requestId });
    throw serviceUnavailable("Credits cannot be checked at the moment. Try again shortly.", cause);
  }
  if (!result.ok) throw denialError(result);
  return { lease: result.lease, credits: result, heldMicro: amountMicro };
}
