import type { TagBudget } from "../../access/budgets/tag-budget.js";
import type { GatewayError } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import type { BlockedCap, CapState, CapWindow } from "../../ledger/cap-limit.js";
import type { DeniedReservation } from "../../ledger/credit-ledger.js";
import { epochSeconds } from "../admission/credit-headers.js";
import { creditText, isoSeconds, waitText } from "../admission/credit-text.js";
import { denialType } from "./denial-type.js";

interface Described {
  readonly budgets: readonly TagBudget[];
  /** Of the account's limits. */
  readonly headers: Record<string, string>;
}

/**
 * The 429 of a key or a budget that has used up one of its caps. Where calls in progress hold the rest, clients may retry: they get
 * credits back within seconds.
 */
export function capDenial(
  { caps, now }: DeniedReservation,
  blocked: BlockedCap,
  { budgets, headers }: Described,
): GatewayError {
  const { cause, availableAt } = blocked;
  if (cause === "used") headers["x-should-retry"] = "false";
  const seconds = availableAt === null ? undefined : Math.max(1, Math.ceil((availableAt - now) / 1000));
  if (availableAt !== null) headers["x-ratelimit-reset"] = epochSeconds(availableAt);
  if (seconds !== undefined) headers["retry-after"] = String(seconds);
  const state = caps?.find(({ id }) => id === blocked.id);
  const budget = budgets.find(({ counters }) => blocked.id.startsWith(`${counters}/`));
  return new RepeatedError(describe(blocked, state, now, budget?.tag), {
    status: 429,
    code: budget === undefined ? "key_limit_exceeded" : "budget_exceeded",
    type: denialType(cause),
    headers,
  });
}

const titles: Readonly<Record<CapWindow, string>> = {
  day: "daily",
  week: "weekly",
  month: "monthly",
  total: "total",
};

/**
 * As for windows, the message about held credits contains neither "usage quota" nor "will reset at". Of a budget, clients
 * read the name of its tag, and not the value: that is the host's.
 */
function describe(
  { window, cause, availableAt }: BlockedCap,
  state: CapState | undefined,
  now: number,
  tag: string | undefined,
): string {
  const whose = (noun: string) =>
    tag === undefined
      ? `is API key's ${titles[window]} ${noun}`
      : `e ${titles[window]} ${noun} of the budget of your ${JSON.stringify(tag)}`;
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
  return `${exhausted} It will reset at ${isoSeconds(Math.ceil(availableAt / 1000))} (in ${waitText(availableAt - now)}).`;
}
