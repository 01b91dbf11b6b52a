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
}

/** @returns `undefined` for most calls: nothing limits them. */
export function callLimits(call: CheckedCall): CallLimits | undefined {
  const { caller, model, rules, admittedAt } = call;
  const { caps } = caller;
  if (caps === undefined && rules.length === 0) return undefined;
  // A call that costs nothing counts in no cap, and none denies it.
  const capLimits = model.price.free ? undefined : caps?.limits(caller.calendar, admittedAt);
  if (capLimits === undefined && rules.length === 0) return undefined;
  return { caps: capLimits, rates: rules.length === 0 ? undefined : rules.map((rule) => toLimit(rule, call)), rules };
}

function toLimit(rule: RateRule, call: CheckedCall): RateLimit {
  const { id, kind, limit, burst } = rule;
  return { id, kind, limit, burst, take: kind === "tokens" ? mostTokens(rule, call) : 1 };
}

/** The most tokens that the call can use of the rule's kind: as many as its credits are held for. */
function mostTokens({ count }: RateRule, { demand, model }: CheckedCall): number {
  const input = count === "output" ? 0 : demand.heldPromptTokens;
  const output = count === "input" ? 0 : demand.outputTokens;
  return Math.min((input + output) * model.route.mostCharged, largestCount);
}
