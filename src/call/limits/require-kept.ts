import { serviceUnavailable } from "../../errors/gateway-error.js";
import { mostCaps } from "../../ledger/cap-limit.js";
import { mostRates } from "../../ledger/rate-limit.js";
import type { CallServices } from "../call-services.js";
import type { CallLimits } from "./call-limits.js";

/** The most budgets that a call is subject to. */
const mostBudgets = 8;

/**
 * A limit that the ledger would not keep refuses the call: passed over, it would limit nothing.
 * @throws GatewayError 503
 */
export function requireKept(
  { ledger, warn }: Pick<CallServices, "ledger" | "warn">,
  requestId: string,
  { caps, rules, budgets }: Pick<CallLimits, "caps" | "rules" | "budgets">,
): void {
  const problem =
    ledger.keepsLimits !== true
      ? "this ledger keeps no caps and rates, but a plan, account, key or budget has some. Take them away, or use another " +
        "ledger"
      : (tooMany(rules, mostRates, "rates", "patterns") ??
        tooMany(caps, mostCaps, "caps", "caps in its budgets") ??
        tooMany(budgets, mostBudgets, "budgets", "budgets for the tags of a call"));
  if (problem === undefined) return;
  warn({ code: "limits_not_kept", message: `The caller gets a 503: ${problem}.`, requestId });
  throw serviceUnavailable("This request's limits cannot be checked at the moment. Try again later.");
}

function tooMany(some: readonly unknown[] | undefined, most: number, what: string, fewer: string): string | undefined {
  return some === undefined || some.length <= most
    ? undefined
    : `a call is subject to ${some.length} ${what}, and ${most} are the most. Use fewer ${fewer}`;
}
