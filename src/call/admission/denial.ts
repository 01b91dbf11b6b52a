import type { TagBudget } from "../../access/budgets/tag-budget.js";
import type { RateRule } from "../../access/rate-rules.js";
import type { GatewayError } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import type { Blocked, DeniedReservation, WindowName, WindowState } from "../../ledger/credit-ledger.js";
import type { PrepaidState } from "../../ledger/prepaid-state.js";
import { capDenial } from "../limits/cap-denial.js";
import { denialType } from "../limits/denial-type.js";
import { rateDenial } from "../limits/rate-denial.js";
import { addRateHeaders } from "../limits/rate-headers.js";
import { addCreditHeaders, epochSeconds } from "./credit-headers.js";
import { creditText, isoSeconds, waitText } from "./credit-text.js";
import { prepaidDenial } from "./prepaid-denial.js";

/**
 * The 429 of a reservation that was denied. Where several limits deny, the windows speak first, then caps, then rates:
 * credits are the longer truth.
 * @param rules - the rates that the call is subject to.
 * @param budgets - those that it is subject to.
 */
export function denialError(
  denial: DeniedReservation,
  rules: readonly RateRule[],
  budgets: readonly TagBudget[] = [],
): GatewayError {
  const { rates, blocked, blockedCaps, blockedRates } = denial;
  const headers = addRateHeaders(addCreditHeaders({}, denial), rates, rules);
  const [window] = blocked;
  if (window !== undefined) {
    return prepaidDenial(denial, headers) ?? windowDenial(denial, window, headers);
  }
  const cap = blockedCaps?.[0];
  if (cap !== undefined) return capDenial(denial, cap, { budgets, headers });
  const rate = blockedRates?.[0];
  if (rate !== undefined) return rateDenial(denial, rate, { rules, headers });
  throw new TypeError("The ledger denied a reservation, but named no window, cap or rate that denies it.");
}

/**
 * The 429 of a request that the credits do not cover. Code, message, `Retry-After` and `X-RateLimit-Reset` all describe
 * the blocked window that becomes available last. Where a window's credits are used up, `x-should-retry` tells clients
 * not to retry. Where calls in progress hold the credits, clients may retry: they get credits back within seconds.
 */
function windowDenial(
  { windows, prepaid, now }: DeniedReservation,
  blocked: Blocked,
  headers: Record<string, string>,
): GatewayError {
  const seconds = Math.max(1, Math.ceil((blocked.availableAt - now) / 1000));
  headers["x-ratelimit-reset"] = epochSeconds(blocked.availableAt);
  headers["retry-after"] = String(seconds);
  if (blocked.cause === "used") headers["x-should-retry"] = "false";
  const state = windows[blocked.window];
  const message =
    blocked.cause === "held"
      ? describeHeld(blocked.window, state, prepaid, seconds)
      : describeUsed(blocked, state, now);
  const alsoPrepaid = blocked.cause === "used" && prepaid !== undefined ? " Prepaid credits are used up, too." : "";
  return new RepeatedError(message + alsoPrepaid, {
    status: 429,
    code: codes[blocked.window],
    type: denialType(blocked.cause),
    headers,
  });
}

const codes: Readonly<Record<WindowName, string>> = {
  session: "session_limit_exceeded",
  week: "week_limit_exceeded",
  month: "month_limit_exceeded",
};

const titles: Readonly<Record<WindowName, string>> = { session: "Session", week: "Week", month: "Month" };

/**
 * LangChain does not retry after "usage quota" or "will reset at". The message about held credits must contain neither.
 */
function describeHeld(
  window: WindowName,
  state: WindowState,
  prepaid: PrepaidState | undefined,
  seconds: number,
): string {
  const again = `Try again in ${seconds}s.`;
  const ofPrepaid =
    prepaid && `${creditText(prepaid.heldMicro)} held of ${creditText(Math.max(0, prepaid.balanceMicro))}`;
  const limit = limitOf(state);
  if (ofPrepaid !== undefined && state.usedMicro >= limit) {
    return `Prepaid credits are held by requests in flight: ${ofPrepaid}. ${again}`;
  }
  const ofWindow = `${creditText(state.usedMicro)} used and ${creditText(state.heldMicro)} held of ${creditText(limit)}`;
  const also = ofPrepaid === undefined ? "" : `, and of prepaid credits ${ofPrepaid}`;
  return `${titles[window]} credits are held by requests in flight: ${ofWindow}${also}. ${again}`;
}

function describeUsed({ window, availableAt }: Blocked, state: WindowState, now: number): string {
  const instant = isoSeconds(Math.ceil(availableAt / 1000));
  return (
    `${titles[window]} usage quota exhausted: ${creditText(state.usedMicro)} of ${creditText(limitOf(state))} credits used. ` +
    `It will reset at ${instant} (in ${waitText(availableAt - now)}).`
  );
}

function limitOf({ limitMicro, bonusMicro }: WindowState): number {
  return Math.max(0, (limitMicro ?? 0) + bonusMicro);
}
