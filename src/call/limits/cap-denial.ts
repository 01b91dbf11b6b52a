import type { GatewayError } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import type { BlockedCap, CapState, CapWindow } from "../../ledger/cap-limit.js";
import type { DeniedReservation } from "../../ledger/credit-ledger.js";
import { epochSeconds } from "../admission/credit-headers.js";
import { creditText, isoSeconds, waitText } from "../admission/credit-text.js";
import { denialType } from "./denial-type.js";

/**
 * The 429 of a key that has used up one of its caps. Where calls in progress hold the rest, clients may retry: they get
 * credits back within seconds.
 * @param headers - of the account's limits.
 */
export function capDenial(
  { caps, now }: DeniedReservation,
  blocked: BlockedCap,
  headers: Record<string, string>,
): GatewayError {
  const { cause, availableAt } = blocked;
  if (cause === "used") headers["x-should-retry"] = "false";
  const seconds = availableAt === null ? undefined : Math.max(1, Math.ceil((availableAt - now) / 1000));
  if (availableAt !== null) headers["x-ratelimit-reset"] = epochSeconds(availableAt);
  if (seconds !== undefined) headers["retry-after"] = String(seconds);
  const state = caps?.find(({ id }) => id === blocked.id);
  return new RepeatedError(describe(blocked, state, now), {
    status: 429,
    code: "key_limit_exceeded",
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

/** As for windows, the message about held credits contains neither "usage quota" nor "will reset at". */
function describe({ window, cause, availableAt }: BlockedCap, state: CapState | undefined, now: number): string {
  const title = titles[window];
  const used = creditText(state?.usedMicro ?? 0);
  const limit = creditText(state?.limitMicro ?? 0);
  if (cause === "held") {
    const seconds = Math.max(1, Math.ceil(((availableAt ?? now) - now) / 1000));
    const held = creditText(state?.heldMicro ?? 0);
    return (
      `The rest of this API key's ${title} limit is held by requests in flight: ${used} used and ${held} held of ${limit} ` +
      `credits. Try again in ${seconds}s.`
    );
  }
  const exhausted = `This API key's ${title} usage quota is exhausted: ${used} of ${limit} credits used.`;
  if (availableAt === null) return `${exhausted} Raise the key's limit, or use another key.`;
  return `${exhausted} It will reset at ${isoSeconds(Math.ceil(availableAt / 1000))} (in ${waitText(availableAt - now)}).`;
}
