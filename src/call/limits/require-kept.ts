import type { RateRule } from "../../access/rate-rules.js";
import { serviceUnavailable } from "../../errors/gateway-error.js";
import { mostRates } from "../../ledger/rate-limit.js";
import type { CallServices } from "../call-services.js";

/**
 * A limit that the ledger would not keep refuses the call: passed over, it would limit nothing.
 * @param rules - the rates that the call is subject to.
 * @throws GatewayError 503
 */
export function requireKept(
  { ledger, warn }: Pick<CallServices, "ledger" | "warn">,
  requestId: string,
  rules: readonly RateRule[],
): void {
  const problem =
    ledger.keepsLimits !== true
      ? "this ledger keeps no caps and rates, but a plan, account or key has some. Take them away, or use another ledger"
      : rules.length > mostRates
        ? `a call is subject to ${rules.length} rates, and a ledger takes ${mostRates} at the most. Use fewer patterns`
        : undefined;
  if (problem === undefined) return;
  warn({ code: "limits_not_kept", message: `The caller gets a 503: ${problem}.`, requestId });
  throw serviceUnavailable("This request's limits cannot be checked at the moment. Try again later.");
}
