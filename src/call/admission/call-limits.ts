import type { TagBudget } from "../../access/budgets/tag-budget.js";
import type { RateRule } from "../../access/rate-rules.js";
import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { type CapLimit, mostCaps, mostRates, type RateLimit, type RateUse } from "../../ledger/limits.js";
import { largestCount, type TokenCounts } from "../../prices/usage-counts.js";
import type { CheckedCall } from "../checked-call.js";
import { isFree } from "./price-for.js";

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
  const { caller, rules, admittedAt } = call;
  const { caps } = caller;
  if (caps === undefined && rules.length === 0) return undefined;
  // A call that costs nothing counts in no cap, and none denies it.
  const capLimits = isFree(call) ? undefined : caps?.limits(caller.calendar, admittedAt);
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

/** The most budgets that a call is subject to. */
const mostBudgets = 8;

/**
 * A limit that the ledger would not keep refuses the call: passed over, it would limit nothing.
 * @throws GatewayError 503
 */
export function requireKept(
  { ledger, warn }: { readonly ledger: Pick<CreditLedger, "keepsLimits">; readonly warn: Warn },
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

/**
 * What a call has used of its rates. What is open at once needs no number: it ends with the call.
 * @param reachedUpstream - whether an upstream got the request. Else it does not count as one.
 */
export function rateUses(rules: readonly RateRule[], tokens: TokenCounts, reachedUpstream: boolean): RateUse[] {
  return rules.flatMap((rule) => {
    switch (rule.kind) {
      case "requests":
        return { id: rule.id, actual: reachedUpstream ? 1 : 0 };
      case "tokens":
        return { id: rule.id, actual: countedTokens(rule, tokens) };
      default:
        return [];
    }
  });
}

function countedTokens({ count, cached }: RateRule, { input, cachedInput, output }: TokenCounts): number {
  const prompt = cached ? input : Math.max(0, input - cachedInput);
  const counted = (count === "output" ? 0 : prompt) + (count === "input" ? 0 : output);
  return Math.min(Math.ceil(counted), largestCount);
}
