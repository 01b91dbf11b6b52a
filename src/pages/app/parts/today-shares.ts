import type { OperatorUsage } from "../../operator/operator-page-api.js";

/** What of all that was charged is margin, as far as costs are known; `undefined`: none is, or nothing was charged. */
export function marginShare({ margin, credits }: Pick<OperatorUsage, "margin" | "credits">): number | undefined {
  return margin === null || credits === 0 ? undefined : margin / credits;
}

/**
 * What of the calls that went to a target have failed. What the gateway refuses, such as a call beyond a limit, is no error.
 * `undefined`: nobody counts failures.
 */
export function failureShare({
  requests,
  refusals,
  failures,
}: Pick<OperatorUsage, "requests" | "refusals" | "failures">): number | undefined {
  if (refusals === null && failures === null) return undefined;
  const failed = failures ?? 0;
  return failed === 0 ? 0 : failed / (requests + failed);
}
