import type { Allowance, Caller } from "../../access/accounts.js";
import type { CatalogModel } from "../../access/catalog.js";
import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { Lease, ReserveResult, WindowStates } from "../../ledger/credit-ledger.js";
import type { Micro } from "../../metering/micro.js";
import type { ModelEndpoint, ModelRequest } from "../../operations/model-endpoint.js";
import { ledgerFailure } from "../ledger-failure.js";
import type { Pipeline } from "../pipeline.js";

/** Stock that is held for one call. */
export interface Reservation {
  readonly lease: Lease;
  readonly windows: WindowStates;
}

/** The most that a call can cost, as far as that can be known before it is made. */
export function estimateCost(
  endpoint: ModelEndpoint,
  request: ModelRequest,
  promptTokens: number,
  model: CatalogModel,
  allowance: Allowance,
): Micro {
  const { contextLength, maxOutputTokens = contextLength } = model;
  const { defaultOutputTokens } = allowance;
  return model.price.upperBound(promptTokens, endpoint.outputTokens(request, { defaultOutputTokens, maxOutputTokens }));
}

/**
 * Holds the amount in the account's stock, or is denied it.
 * @returns `undefined` for a model that costs nothing: it touches no ledger.
 * @throws GatewayError 503 when the ledger fails.
 */
export function reserve(
  { ledger, leaseMs, warn }: Pick<Pipeline, "ledger" | "leaseMs" | "warn">,
  requestId: string,
  caller: Caller,
  call: { allowance: Allowance; model: CatalogModel; amount: Micro; now: number },
): ReserveResult | undefined | Promise<ReserveResult> {
  const { allowance, model, amount: amountMicro, now } = call;
  if (model.price.free) return undefined;
  const limits = caller.calendar.limits(allowance.credits, allowance.sessionMs, now);
  const request = { id: requestId, account: caller.account, amountMicro, limits, leaseMs };
  const failed = (cause: unknown): never => {
    warn({ code: "ledger_failed", message: ledgerFailure("reserve", cause), cause, requestId });
    throw serviceUnavailable("Credits cannot be checked at the moment. Try again shortly.", cause);
  };
  let result: ReserveResult | undefined;
  try {
    result = ledger.reserveAtOnce(request);
  } catch (cause) {
    failed(cause);
  }
  return result ?? ledger.reserve(request).catch(failed);
}
