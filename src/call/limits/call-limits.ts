import type { TagBudget } from "../../access/budgets/tag-budget.js";
import type { RateRule } from "../../access/rate-rules.js";
import type { CapLimit } from "../../ledger/cap-limit.js";
import type { RateLimit } from "../../ledger/rate-limit.js";
import { largestCount } from "../../metering/token-counts.js";
import type { CheckedCall } from "../checked-call.js";

/** What a call is subject to beside the windows of its account. */
export interface CallLimits {
  readonly caps: readonly CapLimit[] | undefined;
  readonly rates: readonly RateLimit[] | undefined;
  /** What `rates` were made of, in their order. */
  readonly rules: readonly RateRule[];
  /** Those of which some of the caps and rates are. */
  readonly budgets: readonly TagBudget[] | undefined;
}

/**
 * @param isCounted - whether the prompt is counted for rates in tokens. Where it is not, they take none: that is enough to
 * find out whether one denies.
 * @returns `undefined` for most calls: nothing limits them.
 */
export function callLimits(call: CheckedCall, isCounted = true): CallLimits | undefined {
  const { caller, model, rules, admittedAt } = call;
  const { caps } = caller;
  if (caps === undefined && rules.length === 0) return undefined;
  // A call that costs nothing counts in no cap, and none denies it.
  const capLimits = model.price.free ? undefined : caps?.limits(caller.calendar, admittedAt);
  if (capLimits === undefined && rules.length === 0) return undefined;
  return {
    caps: capLimits,
    rates: rules.length === 0 ? undefined : rules.map((rule) => toLimit(rule, isCounted ? call : undefined)),
    rules,
    budgets: caller.budgets?.each,
  };
}

function toLimit(rule: RateRule, counted: CheckedCall | undefined): RateLimit {
  const { id, kind, limit, burst } = rule;
  if (kind !== "tokens") return { id, kind, limit, burst, take: 1 };
  return { id, kind, limit, burst, take: counted === undefined ? 0 : mostTokens(rule, counted) };
}

/** The most tokens that the call can use of the rule's kind: as many as its credits are held for. */
function mostTokens({ count }: RateRule, { demand, model }: CheckedCall): number {
  const input = count === "output" ? 0 : demand.heldPromptTokens;
  const output = count === "input" ? 0 : demand.outputTokens;
  return Math.min((input + output) * model.route.mostCharged, largestCount);
}
