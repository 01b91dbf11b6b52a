import { GatewayError } from "../../errors/gateway-error.js";
import type { Blocked, DeniedReservation } from "../../ledger/credit-ledger.js";
import { paysAsYouGo } from "../../ledger/funding.js";
import { epochSeconds } from "./credit-headers.js";

/** Calls in progress end soon. In seconds. */
const heldRetrySeconds = 5;

/**
 * The 429 where the windows deny, but the truth is about prepaid credits: calls in progress hold the rest of them, or
 * nothing but prepaid credits could pay. Then no window's reset brings any.
 * @param code - of the window.
 * @param headers - those that every denial has. Where this one answers, it changes them.
 * @returns `undefined` where the window's own 429 says it all.
 */
export function prepaidDenial(
  denial: DeniedReservation,
  blocked: Blocked,
  code: string,
  headers: Record<string, string>,
): GatewayError | undefined {
  const { windows, prepaid, now } = denial;
  // An account that never had prepaid credits is told of its window, as ever.
  const isAlone = prepaid !== undefined && paysAsYouGo(windows);
  const error = (ofDenial: string, message: string) =>
    new GatewayError(message, { status: 429, code: ofDenial, type: "insufficient_quota", headers });
  const isHeld = prepaid !== undefined && prepaid.balanceMicro > 0;
  // What holds the window's own credits is the shorter wait, or the same.
  if (isHeld && blocked.cause === "used") {
    headers["x-ratelimit-reset"] = epochSeconds(now + heldRetrySeconds * 1000);
    headers["retry-after"] = String(heldRetrySeconds);
    return error(code, `Prepaid credits are held by requests in flight. Try again in ${heldRetrySeconds}s.`);
  }
  if (!isAlone) return undefined;
  delete headers["x-ratelimit-reset"];
  headers["x-should-retry"] = "false";
  return error(
    "insufficient_quota",
    "No prepaid credits are left, and the plan includes none. Top up the account to go on.",
  );
}
