import type { GatewayError } from "../openai/errors.js";
import type { Target } from "./target.js";
import type { Warn } from "./warning.js";

/** Tells the host of a failure that lies between the gateway and the model server. */
export function warnOfUpstream(
  error: GatewayError | undefined,
  model: string,
  { providerName, upstreamModel }: Target,
  warn: Warn,
  requestId: string,
): void {
  if (error === undefined || (error.status !== 502 && error.status !== 504)) return;
  const { cause, message } = error;
  const problem = cause instanceof Error ? cause.message : message;
  const which = `The provider "${providerName}" failed for the model "${model}" (there "${upstreamModel}")`;
  warn({ code: "upstream_failed", message: `${which}: ${problem}`, cause, requestId });
}
