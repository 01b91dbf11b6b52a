import type { Warn } from "../events/warning.js";
import type { Catalog } from "./catalog.js";
import { matchesPattern } from "./matches-pattern.js";

/** A plan, with the patterns of models that it names. */
interface NamingPlan {
  readonly plan: string;
  readonly models: Naming;
  readonly rates: Naming | undefined;
}

interface Naming {
  readonly patterns: readonly string[];
}

/** Warns of each pattern of a plan's models and rates that no model of the catalog matches. */
export function warnOfUnmatched({ plan, models, rates }: NamingPlan, catalog: Catalog, warn: Warn): void {
  const ids = [...catalog].flatMap(([name, { id }]) => (name === id ? id : []));
  const warnOf = (patterns: readonly string[], names: string): void => {
    for (const pattern of patterns) {
      if (ids.some((id) => matchesPattern(pattern, id))) continue;
      warn({
        code: "unmatched_plan_pattern",
        message: `The plan "${plan}" ${names} the model "${pattern}", which matches ${whatElse(pattern, catalog)}.`,
      });
    }
  };
  warnOf(models.patterns, "names");
  warnOf(rates?.patterns ?? [], "limits the rates of");
}

/** What a pattern matches that matches no id. */
function whatElse(pattern: string, catalog: Catalog): string {
  const found = [...catalog].find(([name]) => matchesPattern(pattern, name));
  if (found === undefined) return "nothing in the catalog. Check its spelling";
  const [alias, { id }] = found;
  return `no id in the catalog, but the alias "${alias}" of "${id}". Plans name ids: name that`;
}
