import type { GatewayError } from "../../errors/gateway-error.js";
import { RepeatedError } from "../../errors/repeated-error.js";
import type { DeniedReservation } from "../../ledger/credit-ledger.js";
import { neverFills } from "../../ledger/funding.js";
import { creditText } from "./credit-text.js";

/**
 * The 429 of an account that lives on prepaid credits, and has none left: its plan never has any, so that no window's reset
 * helps.
 * @param headers - those that every denial has. Where this one answers, it changes them.
 * @returns `undefined` where the window's own 429 is right: the account never had prepaid credits, calls in progress hold
 * the rest of them, or a reset brings credits.
 */
export function prepaidDenial(
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
