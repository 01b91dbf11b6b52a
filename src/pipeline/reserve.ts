import type { ModelEndpoint, ModelRequest } from "../endpoints/model-endpoint.js";
import type { Lease, Micro, WindowStates } from "../ledger/credit-ledger.js";
import { serviceUnavailable } from "../openai/errors.js";
import type { Allowance, Caller } from "./accounts.js";
import type { CatalogModel } from "./catalog.js";
import { type Denial, denialError } from "./denial.js";
import type { Pipeline } from "./pipeline.js";

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
 * Holds the amount in the account's stock.
 * @returns `undefined` for a model that costs nothing: it touches no ledger.
 * @throws GatewayError 429 when the stock is used up, 503 when the ledger fails.
 */
export async function reserve(
  { ledger, leaseMs, warn }: Pick<Pipeline, "ledger" | "leaseMs" | "warn">,
  call: { requestId: string; caller: Caller; allowance: Allowance; model: CatalogModel; amount: Micro; now: number },
): Promise<Reservation | undefined> {
  const { requestId, caller, allowance, model, amount, now } = call;
  if (model.price.free) return undefined;
  const limits = caller.calendar.limits(allowance.credits, allowance.sessionMs, now);
  let denial: Denial;
  try {
    const result = await ledger.reserve({ id: requestId, subject: caller.account, amount, limits, leaseMs });
    if (result.ok) return result;
    denial = result;
  } catch (cause) {
    warn({ code: "ledger_failed", message: "The ledger failed to reserve; the caller gets a 503.", cause, requestId });
    throw serviceUnavailable("Credits cannot be checked at the moment. Try again shortly.", cause);
  }
  throw denialError(denial);
}
