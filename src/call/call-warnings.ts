import type { GatewayError } from "../errors/gateway-error.js";
import { isAskedTooMuch } from "../errors/refusal.js";
import type { Warn } from "../events/warning.js";
import type { Charge } from "../prices/charge.js";
import type { Micro } from "../prices/micro.js";
import { redactKeys } from "../redaction/redact.js";
import { type UpstreamSecrets, withSecrets } from "../redaction/upstream-secrets.js";
import type { Target } from "../routing/target.js";
import { isError } from "../runtime/host-code.js";
import { microPerCredit } from "./admission/credit-headers.js";
import type { CallServices } from "./call-services.js";
import type { CheckedCall } from "./checked-call.js";

/** Warns the host of a failure between the gateway and the model server. */
export function warnOfUpstream(
  error: GatewayError,
  { target, hidden }: { readonly target: Target; readonly hidden: UpstreamSecrets | undefined },
  { model, requestId }: Pick<CheckedCall, "model" | "requestId">,
  warn: Warn,
): void {
  if (error.status !== 502 && error.status !== 504 && !isAskedTooMuch(error)) return;
  const { cause } = error;
  const { providerName, upstreamModel } = target;
  const secrets = () => withSecrets(target.secrets?.(), hidden);
  const problem = redactKeys(isError(cause) ? cause.message : error.message, secrets);
  const which = `The provider "${providerName}" failed for the model "${model.id}" (there "${upstreamModel}")`;
  warn({ code: "upstream_failed", message: `${which}: ${problem}`, cause, requestId });
}

/** Warns the host of a call that cost more than was held for it, once for each target of a model. */
export function warnOfCost(
  { warn, costlyTargets }: Pick<CallServices, "warn" | "costlyTargets">,
  { model, demand, requestId }: Pick<CheckedCall, "model" | "demand" | "requestId">,
  heldMicro: Micro,
  { micro, tokens }: Charge,
  target: Target,
): void {
  if (micro <= heldMicro) return;
  const { providerName, upstreamModel } = target;
  if (!costlyTargets.isFirst(JSON.stringify([model.id, providerName, upstreamModel]))) return;
  const which = `The model "${model.id}" at the provider "${providerName}" (there "${upstreamModel}")`;
  const message =
    `${which} cost ${micro / microPerCredit} credits, which were charged, and ${heldMicro / microPerCredit} were held: ` +
    `${tokens.input} tokens of prompt for ${demand.heldPromptTokens}, ${tokens.output} of output for ${demand.outputTokens}. ` +
    "Correct its contextLength, maxOutputTokens or tokenBounds, or its server's name for the output cap (dialect.capName).";
  warn({ code: "cost_above_hold", message, requestId });
}

/** Warns the host of something that a model server has reported and that no price is for. */
export function warnOfUnpriced(
  unpriced: string | undefined,
  { tokens: { serviceTier: tier } }: Charge,
  model: string,
  { providerName, upstreamModel, price: { tiers = [], free } }: Target,
  warn: Warn,
): void {
  const warnOf = (what: string): void => {
    const which = `The provider "${providerName}" reported "${what}" for the model "${model}" (there "${upstreamModel}")`;
    const message = `${which}. The model has no price for it, so it was not charged as what it costs.`;
    warn({ code: "usage_unpriced", message });
  };
  if (unpriced !== undefined) warnOf(unpriced);
  if (tier !== undefined && !free && !tiers.includes(tier)) warnOf(`service_tier=${tier}`);
}

/**
 * The warning for a failed ledger call. The thrown error may contain secrets of the host, so the warning has it as its
 * cause only. Clocks that differ are an exception: the message says so, because the host can fix it.
 */
export function ledgerFailure(what: string, cause: unknown): string {
  const isClock = isError(cause) && cause.name === "LedgerClockError";
  return `The ledger failed to ${what}; the caller gets a 503.${isClock ? ` ${cause.message}` : ""}`;
}
