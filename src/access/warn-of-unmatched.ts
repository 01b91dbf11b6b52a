import type { Warn } from "../events/warning.js";
import type { Catalog } from "./catalog.js";
import { matchesPattern } from "./matches-pattern.js";

/** A plan or an account, with the patterns of models that it names. */
type Named = ({ readonly plan: string } | { readonly account: string }) & {
  readonly models: Naming | undefined;
  readonly rates?: Naming | undefined;
};

interface Naming {
  readonly patterns: readonly string[];
}

/** Warns of each pattern of its models and rates that no model of the catalog matches. */
export function warnOfUnmatched(named: Named, catalog: Catalog, warn: Warn): void {
  const { models, rates } = named;
  if (models === undefined && rates === undefined) return;
  const [what, name] = "plan" in named ? (["plan", named.plan] as const) : (["account", named.account] as const);
  const ids = [...catalog].flatMap(([name, { id }]) => (name === id ? id : []));
  const warnOf = (patterns: readonly string[], verb: string): void => {
    for (const pattern of patterns) {
      if (ids.some((id) => matchesPattern(pattern, id))) continue;
      warn({
        code: `unmatched_${what}_pattern`,
        message: `The ${what} "${name}" ${verb} the model "${pattern}", which matches ${whatElse(pattern, catalog, what)}.`,
      });
    }
  };
  warnOf(models?.patterns ?? [], "names");
  warnOf(rates?.patterns ?? [], "limits the rates of");
}

/** What a pattern matches that matches no id. */
function whatElse(pattern: string, catalog: Catalog, what: "plan" | "account"): string {
  const found = [...catalog].find(([name]) => matchesPattern(pattern, name));
  if (found === undefined) return "nothing in the catalog. Check its spelling";
  const [alias, { id }] = found;
  return `no id in the catalog, but the alias "${alias}" of "${id}". ${what === "plan" ? "Plans" : "Accounts"} name ids: name that`;
}
