import type { Warn } from "../events/warning.js";
import type { Catalog } from "./catalog.js";
import { matchesPattern } from "./matches-pattern.js";

/** Warns of each of a plan's patterns that no model of the catalog matches. */
export function warnOfUnmatched(plan: string, patterns: readonly string[], catalog: Catalog, warn: Warn): void {
  for (const pattern of patterns) {
    if ([...catalog.keys()].some((id) => matchesPattern(pattern, id))) continue;
    warn({
      code: "unmatched_plan_pattern",
      message: `The plan "${plan}" names the model "${pattern}", which matches nothing in the catalog. Check its spelling.`,
    });
  }
}
