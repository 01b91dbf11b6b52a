import type { RateOwner, RateRule } from "../../access/rate-rules.js";
import type { GatewayError } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import type { DeniedReservation } from "../../ledger/credit-ledger.js";
import type { BlockedRate, RateState } from "../../ledger/rate-limit.js";
import { rateDuration } from "./rate-headers.js";

interface Described {
  readonly rules: readonly RateRule[];
  /** Of the account's limits. */
  readonly headers: Record<string, string>;
}

/**
 * The 429 of a call beyond a rate limit. `retry-after-ms` is exact, and clients may retry after it. A limit of 0 admits
 * nothing ever.
 */
export function rateDenial(
  { rates, now }: DeniedReservation,
  blocked: BlockedRate,
  { rules, headers }: Described,
): GatewayError {
  const waitMs = blocked.availableAt === null ? undefined : Math.max(1, blocked.availableAt - now);
  if (waitMs === undefined) headers["x-should-retry"] = "false";
  else {
    headers["retry-after"] = String(Math.ceil(waitMs / 1000));
    headers["retry-after-ms"] = String(waitMs);
  }
  const rule = rules.find(({ id }) => id === blocked.id);
  const state = rates?.find(({ id }) => id === blocked.id);
  return new RepeatedError(describe(blocked, rule, state, waitMs), {
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

function describe(
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
