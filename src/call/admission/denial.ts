import type { TagBudget } from "../../access/budgets/tag-budget.js";
import type { RateOwner, RateRule } from "../../access/rate-rules.js";
import type { GatewayError } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import type { Blocked, DeniedReservation, WindowName, WindowState } from "../../ledger/credit-ledger.js";
import type { BlockedCap, BlockedRate, CapState, CapWindow, PrepaidState, RateState } from "../../ledger/limits.js";
import { neverFills } from "../../ledger/window-states.js";
import { addCreditHeaders, addRateHeaders, creditText, epochSeconds, rateDuration } from "./credit-headers.js";

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
  if (cap !== undefined) return capDenial(denial, cap, budgets, headers);
  const rate = blockedRates?.[0];
  if (rate !== undefined) return rateDenial(denial, rate, rules, headers);
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
  return (
    `${titles[window]} usage quota exhausted: ${creditText(state.usedMicro)} of ${creditText(limitOf(state))} credits used. ` +
    resetText(availableAt, now)
  );
}

function resetText(availableAt: number, now: number): string {
  return `It will reset at ${isoSeconds(Math.ceil(availableAt / 1000))} (in ${waitText(availableAt - now)}).`;
}

function limitOf({ limitMicro, bonusMicro }: WindowState): number {
  return Math.max(0, (limitMicro ?? 0) + bonusMicro);
}

/**
 * The 429 of an account that lives on prepaid credits, and has none left: its plan never has any, so that no window's reset
 * helps.
 * @param headers - those that every denial has. Where this one answers, it changes them.
 * @returns `undefined` where the window's own 429 is right: the account never had prepaid credits, calls in progress hold
 * the rest of them, or a reset brings credits.
 */
function prepaidDenial(
  { blocked, windows, prepaid }: DeniedReservation,
  headers: Record<string, string>,
): GatewayError | undefined {
  if (prepaid === undefined) return undefined;
  const isForGood = blocked.some(({ window, cause }) => cause === "used" && neverFills(windows[window]));
  if (!isForGood) return undefined;
  delete headers["x-ratelimit-reset"];
  headers["x-should-retry"] = "false";
  const { overdrawnMicro } = prepaid;
  const debt = overdrawnMicro > 0 ? ` (overdrawn by ${creditText(overdrawnMicro)})` : "";
  return new RepeatedError(
    `No prepaid credits are left${debt}, and the plan includes none. Top up the account to go on.`,
    { status: 429, code: "insufficient_quota", type: "insufficient_quota", headers },
  );
}

/**
 * The 429 of a key or a budget that has used up one of its caps. Where calls in progress hold the rest, clients may retry: they get
 * credits back within seconds.
 */
function capDenial(
  { caps, now }: DeniedReservation,
  blocked: BlockedCap,
  budgets: readonly TagBudget[],
  headers: Record<string, string>,
): GatewayError {
  const { cause, availableAt } = blocked;
  if (cause === "used") headers["x-should-retry"] = "false";
  const seconds = availableAt === null ? undefined : Math.max(1, Math.ceil((availableAt - now) / 1000));
  if (availableAt !== null) headers["x-ratelimit-reset"] = epochSeconds(availableAt);
  if (seconds !== undefined) headers["retry-after"] = String(seconds);
  const state = caps?.find(({ id }) => id === blocked.id);
  const budget = budgets.find(({ counters }) => blocked.id.startsWith(`${counters}/`));
  return new RepeatedError(describeCap(blocked, state, now, budget?.tag), {
    status: 429,
    code: budget === undefined ? "key_limit_exceeded" : "budget_exceeded",
    type: denialType(cause),
    headers,
  });
}

const capTitles: Readonly<Record<CapWindow, string>> = {
  day: "daily",
  week: "weekly",
  month: "monthly",
  total: "total",
};

/**
 * As for windows, the message about held credits contains neither "usage quota" nor "will reset at". Of a budget, clients
 * read the name of its tag, and not the value: that is the host's.
 */
function describeCap(
  { window, cause, availableAt }: BlockedCap,
  state: CapState | undefined,
  now: number,
  tag: string | undefined,
): string {
  const whose = (noun: string) =>
    tag === undefined
      ? `is API key's ${capTitles[window]} ${noun}`
      : `e ${capTitles[window]} ${noun} of the budget of your ${JSON.stringify(tag)}`;
  const used = creditText(state?.usedMicro ?? 0);
  const limit = creditText(state?.limitMicro ?? 0);
  if (cause === "held") {
    const seconds = Math.max(1, Math.ceil(((availableAt ?? now) - now) / 1000));
    const held = creditText(state?.heldMicro ?? 0);
    return (
      `The rest of th${whose("limit")} is held by requests in flight: ${used} used and ${held} held of ${limit} ` +
      `credits. Try again in ${seconds}s.`
    );
  }
  const exhausted = `Th${whose("usage quota")} is exhausted: ${used} of ${limit} credits used.`;
  if (availableAt === null)
    return `${exhausted} ${tag === undefined ? "Raise the key's limit, or use another key." : "Raise the budget."}`;
  return `${exhausted} ${resetText(availableAt, now)}`;
}

/**
 * The 429 of a call beyond a rate limit. `retry-after-ms` is exact, and clients may retry after it. A limit of 0 admits
 * nothing ever.
 */
function rateDenial(
  { rates, now }: DeniedReservation,
  blocked: BlockedRate,
  rules: readonly RateRule[],
  headers: Record<string, string>,
): GatewayError {
  const waitMs = blocked.availableAt === null ? undefined : Math.max(1, blocked.availableAt - now);
  if (waitMs === undefined) headers["x-should-retry"] = "false";
  else {
    headers["retry-after"] = String(Math.ceil(waitMs / 1000));
    headers["retry-after-ms"] = String(waitMs);
  }
  const rule = rules.find(({ id }) => id === blocked.id);
  const state = rates?.find(({ id }) => id === blocked.id);
  return new RepeatedError(describeRate(blocked, rule, state, waitMs), {
    status: 429,
    code: "rate_limit_exceeded",
    type: blocked.kind === "tokens" ? "tokens" : "requests",
    headers,
  });
}

const owners: Readonly<Record<RateOwner, string>> = {
  plan: "your plan",
  account: "your account",
  key: "this API key",
  caller: "this caller",
  budget: "the budget",
};

const kindsOfOne: Readonly<Record<BlockedRate["kind"], string>> = {
  requests: "request",
  tokens: "token",
  concurrent: "request",
};

function describeRate(
  { kind, limit, cause }: BlockedRate,
  rule: RateRule | undefined,
  state: RateState | undefined,
  waitMs: number | undefined,
): string {
  const models = rule?.pattern === undefined ? "" : ` for models ${JSON.stringify(rule.pattern)}`;
  const tag = rule?.tag === undefined ? "" : ` of your ${JSON.stringify(rule.tag)}`;
  const whose = `The rate limit of ${rule === undefined ? "this account" : owners[rule.owner]}${tag}${models}`;
  const named = limit === 1 ? kindsOfOne[kind] : kind === "tokens" ? "tokens" : "requests";
  const what = `${limit} ${named} ${kind === "concurrent" ? "at once" : "a minute"}`;
  if (waitMs === undefined) return `${whose} is ${what}: none is allowed.`;
  const most = kind === "concurrent" ? limit : (rule?.burst ?? limit);
  const used = most - (state?.remaining ?? 0);
  const burst = most === limit ? "" : ` with a burst of ${most}`;
  return (
    `${whose} is reached: ${what}${burst}, ${used} ${kind === "concurrent" ? "in progress" : "used"}` +
    `${cause === "held" && kind === "tokens" ? " or held by requests in flight" : ""}. Try again in ${rateDuration(waitMs)}.`
  );
}

/**
 * The error type of a denial by credits. Some clients, such as Codex, never retry after `insufficient_quota`, whatever code
 * and headers say. Credits that calls in progress hold come back within seconds, so they are no used-up quota.
 */
function denialType(cause: Blocked["cause"]): "insufficient_quota" | "requests" {
  return cause === "used" ? "insufficient_quota" : "requests";
}

function isoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

/** Days, hours and minutes, rounded up. */
function waitText(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000);
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  const parts = [days > 0 ? `${days}d` : "", hours > 0 ? `${hours}h` : "", days === 0 ? `${minutes % 60}m` : ""];
  return parts.filter((part) => part !== "").join(" ");
}
