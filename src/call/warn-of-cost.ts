import type { Target } from "../routing/target.js";
import { microPerCredit } from "./admission/credit-headers.js";
import type { Reservation } from "./admission/hold-credits.js";
import type { CallServices } from "./call-services.js";
import type { SettledCharge } from "./call-settlement.js";
import type { CheckedCall } from "./checked-call.js";

/** Warns the host of a call that cost more than was held for it, once for each target of a model. */
export function warnOfCost(
  { warn, costlyTargets }: Pick<CallServices, "warn" | "costlyTargets">,
  { model, demand, requestId }: Pick<CheckedCall, "model" | "demand" | "requestId">,
  { heldMicro }: Reservation,
  { target, charge }: { target: Target | undefined; charge: SettledCharge },
): void {
  const { micro, tokens } = charge;
  if (micro <= heldMicro || target === undefined) return;
  const { providerName, upstreamModel } = target;
  if (!costlyTargets.isFirst(JSON.stringify([model.id, providerName, upstreamModel]))) return;
  const which = `The model "${model.id}" at the provider "${providerName}" (there "${upstreamModel}")`;
  const message =
    `${which} cost ${micro / microPerCredit} credits, which were charged, and ${heldMicro / microPerCredit} were held: ` +
    `${tokens.input} tokens of prompt for ${demand.heldPromptTokens}, ${tokens.output} of output for ${demand.outputTokens}. ` +
    "Correct its contextLength, maxOutputTokens or tokenBounds, or its server's name for the output cap (dialect.capName).";
  warn({ code: "cost_above_hold", message, requestId });
}
