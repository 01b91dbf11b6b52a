import { isAskedTooMuch } from "../errors/asked-too-much.js";
import type { GatewayError } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import { isError } from "../host-code/thrown.js";
import { redactKeys } from "../redaction/redact.js";
import type { Target } from "../routing/target.js";
import type { CheckedCall } from "./checked-call.js";

/** Warns the host of a failure between the gateway and the model server. */
export function warnOfUpstream(
  error: GatewayError,
  target: Target,
  { model, requestId }: Pick<CheckedCall, "model" | "requestId">,
  warn: Warn,
): void {
  if (error.status !== 502 && error.status !== 504 && !isAskedTooMuch(error)) return;
  const { cause } = error;
  const { providerName, upstreamModel } = target;
  const problem = redactKeys(isError(cause) ? cause.message : error.message, target.secrets);
  const which = `The provider "${providerName}" failed for the model "${model.id}" (there "${upstreamModel}")`;
  warn({ code: "upstream_failed", message: `${which}: ${problem}`, cause, requestId });
}
