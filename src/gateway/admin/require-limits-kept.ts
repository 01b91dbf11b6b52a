import { KeyCaps } from "../../access/key-caps.js";
import { RateRules } from "../../access/rate-rules.js";
import { UnsupportedError } from "../../check/unsupported-error.js";
import type { KeyCredits } from "../../keys/key-store.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import type { Rates } from "../../metering/rates.js";
import type { Plan } from "../../plans/plan-store.js";

/** A plan, account, key or budget, as far as it may limit calls. */
export interface Limited {
  readonly credits?: KeyCredits | null | undefined;
  readonly rates?: Rates | null | undefined;
}

/**
 * @param by - the public method, for the error.
 * @param what - what has the limits, such as `the plan "pro"`.
 * @throws UnsupportedError for caps and rates that the ledger would not keep.
 */
export function requireLimitsKept(
  by: string,
  ledger: Pick<CreditLedger, "keepsLimits">,
  what: string,
  { credits, rates }: Limited,
): void {
  if (ledger.keepsLimits === true) return;
  const scope = { owner: "plan", counters: "" } as const;
  const hasRates = RateRules.of(scope, rates) !== undefined;
  if (!hasRates && KeyCaps.of("", credits) === undefined) return;
  const kind = hasRates ? "rates" : "caps";
  throw new UnsupportedError(
    `${by}: this ledger keeps no ${kind}: ${what} has some, which would limit nothing. Take them away, or use a ledger ` +
      "with `keepsLimits`.",
  );
}

/** The same for a plan and its budgets. @throws UnsupportedError */
export function requirePlanKept(by: string, ledger: Pick<CreditLedger, "keepsLimits">, plan: Plan): void {
  const name = `the plan ${JSON.stringify(plan.id)}`;
  requireLimitsKept(by, ledger, name, { rates: plan.rates });
  for (const budget of plan.budgets ?? []) requireLimitsKept(by, ledger, `a budget of ${name}`, budget);
}
