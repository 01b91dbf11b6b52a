import type { DisconnectPolicy } from "./plan-store.js";

/** How much of a response to keep reading after its client left, with the defaults filled in. */
export interface ResolvedDrainLimits {
  readonly maxMs: number;
  readonly maxTokens: number;
}

export function toDrainLimits(policy: DisconnectPolicy): ResolvedDrainLimits | "cancel" {
  if (policy === "cancel") return policy;
  const { maxMs = 60_000, maxTokens = 4096 } = policy === "drain" ? {} : policy;
  return { maxMs, maxTokens };
}
