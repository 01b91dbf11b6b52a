import { mostCredits, tooLargeLimits } from "../check/limit-schemas.js";
import type { Warn } from "../events/warning.js";

/** Warns of limits of a stored key or plan that are too large to count: they count as the largest. */
export function warnOfTooLarge(what: string, credits: object | null | undefined, warn: Warn): void {
  for (const name of tooLargeLimits(credits)) {
    const message =
      `${what}: credits.${name} is more than can be counted. It counts as ${mostCredits} credits, the most that a limit ` +
      "can be. Make it smaller, or take it away.";
    warn({ code: "limit_too_large", message });
  }
}
