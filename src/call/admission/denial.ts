import { GatewayError } from "../../errors/gateway-error.js";
import type { Blocked, ReserveResult, WindowName, WindowState } from "../../ledger/credit-ledger.js";
import type { Micro } from "../../metering/micro.js";
import { addCreditHeaders, epochSeconds, microPerCredit } from "./credit-headers.js";
import { prepaidDenial } from "./prepaid-denial.js";

export type Denial = Extract<ReserveResult, { ok: false }>;

/**
 * The 429 of a request that the credits do not cover. Code, message, `Retry-After` and `X-RateLimit-Reset` all describe
 * the blocked window that becomes available last. Where a window's credits are used up, `x-should-retry` tells clients
 * not to retry. Where calls in progress hold the credits, clients may retry: they get credits back within seconds.
 */
export function denialError(denial: Denial): GatewayError {
  const { windows, prepaid, now } = denial;
  const [blocked] = denial.blocked;
  if (blocked === undefined) throw new TypeError("The ledger denied a reservation, but no window of it.");
  const ofPrepaid = prepaidDenial(denial, blocked, codes[blocked.window]);
  if (ofPrepaid !== undefined) return ofPrepaid;
  const seconds = Math.max(1, Math.ceil((blocked.availableAt - now) / 1000));
  const headers = addCreditHeaders({}, denial);
  headers["x-ratelimit-reset"] = epochSeconds(blocked.availableAt);
  headers["retry-after"] = String(seconds);
  if (blocked.cause === "used") headers["x-should-retry"] = "false";
  const alsoPrepaid = prepaid === undefined || prepaid.balanceMicro > 0 ? "" : " Prepaid credits are used up, too.";
  return new GatewayError(describe(blocked, windows[blocked.window], now, seconds) + alsoPrepaid, {
    status: 429,
    code: codes[blocked.window],
    type: "insufficient_quota",
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
function describe(blocked: Blocked, state: WindowState, now: number, seconds: number): string {
  const limit = credits((state.limitMicro ?? 0) + state.bonusMicro);
  if (blocked.cause === "held") {
    return (
      `${titles[blocked.window]} credits are held by requests in flight: ${credits(state.usedMicro)} used and ` +
      `${credits(state.heldMicro)} held of ${limit}. Try again in ${seconds}s.`
    );
  }
  const instant = isoSeconds(Math.ceil(blocked.availableAt / 1000));
  return (
    `${titles[blocked.window]} usage quota exhausted: ${credits(state.usedMicro)} of ${limit} credits used. ` +
    `It will reset at ${instant} (in ${duration(blocked.availableAt - now)}).`
  );
}

let lastSeconds = Number.NaN;
let lastInstant = "";

/**
 * A client that repeats denied requests gets the same instant each time. Formatting it is a tenth of such a response's
 * cost.
 */
function isoSeconds(seconds: number): string {
  if (seconds !== lastSeconds) {
    lastInstant = new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
    lastSeconds = seconds;
  }
  return lastInstant;
}

/** Credits with all their decimals, without trailing zeros. */
function credits(amount: Micro): string {
  const whole = Math.floor(amount / microPerCredit);
  const micro = amount - whole * microPerCredit;
  return micro === 0 ? String(whole) : `${whole}.${String(micro).padStart(6, "0").replace(/0+$/, "")}`;
}

function duration(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  const parts = [days > 0 ? `${days}d` : "", hours > 0 ? `${hours}h` : "", days === 0 ? `${minutes % 60}m` : ""];
  return parts.filter((part) => part !== "").join(" ");
}
