import type { GatewayError } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import { redactKeys } from "../openai/upstream-errors/redact.js";
import type { UpstreamSecrets } from "../openai/upstream-errors/upstream-secrets.js";
import type { Target } from "../routing/target.js";

/** Tells the host of a failure that lies between the gateway and the model server. */
export function warnOfUpstream(
  error: GatewayError | undefined,
  model: string,
  target: Target,
  warn: Warn,
  requestId: string,
): void {
  if (error === undefined || (error.status !== 502 && error.status !== 504)) return;
  const { cause, message } = error;
  const { providerName, upstreamModel } = target;
  const problem = redactKeys(cause instanceof Error ? cause.message : message, secretsOf(target));
  const which = `The provider "${providerName}" failed for the model "${model}" (there "${upstreamModel}")`;
  warn({ code: "upstream_failed", message: `${which}: ${problem}`, cause, requestId });
}

/** What must not get out of what the target's provider says: read when there is an error to tell. */
export function secretsOf({ provider }: Target): (() => UpstreamSecrets) | undefined {
  return provider.secrets === undefined ? undefined : () => provider.secrets?.() ?? {};
}
