import type { GatewayWarning, Warn } from "../events/warning.js";
import type { Budget } from "../records/budgets/budget-store.js";
import type { Catalog } from "./catalog.js";
import { matchesPattern } from "./matches-pattern.js";

/** A plan or an account, with the patterns of models that it names. */
type Named = ({ readonly plan: string } | { readonly account: string }) & {
  readonly models?: Naming | undefined;
  readonly rates?: Naming | undefined;
  readonly budgets?: readonly Pick<Budget, "tag" | "models" | "rates">[] | undefined;
};

interface Naming {
  readonly patterns: readonly string[];
}

/** What names models. */
interface Namer {
  readonly code: GatewayWarning["code"];
  /** Such as `The plan "pro"`. */
  readonly name: string;
  /** Such as `Plans`. */
  readonly kind: string;
  readonly models: readonly string[];
  /** Those whose rates it limits. */
  readonly rates: readonly string[];
}

/** Warns of each pattern of its models and rates, and of those of its budgets, that no model of the catalog matches. */
export function warnOfUnmatched(named: Named, catalog: Catalog, warn: Warn): void {
  const namers = namersOf(named).filter(({ models, rates }) => models.length + rates.length > 0);
  if (namers.length === 0) return;
  const ids = [...catalog].flatMap(([name, { id }]) => (name === id ? id : []));
  for (const { code, name, kind, ...named } of namers) {
    const warnOf = (patterns: readonly string[], verb: string): void => {
      for (const pattern of patterns) {
        if (ids.some((id) => matchesPattern(pattern, id))) continue;
        const instead = whatElse(pattern, catalog, kind);
        warn({ code, message: `${name} ${verb} the model "${pattern}", which matches ${instead}.` });
      }
    };
    warnOf(named.models, "names");
    warnOf(named.rates, "limits the rates of");
  }
}

function namersOf({ models, rates, budgets = [], ...owner }: Named): Namer[] {
  const patterns = { models: models?.patterns ?? [], rates: rates?.patterns ?? [] };
  const [own, place]: [Namer, string] =
    "plan" in owner
      ? [
          { code: "unmatched_plan_pattern", name: `The plan "${owner.plan}"`, kind: "Plans", ...patterns },
          `in the plan "${owner.plan}"`,
        ]
      : [
          { code: "unmatched_account_pattern", name: `The account "${owner.account}"`, kind: "Accounts", ...patterns },
          `of the account "${owner.account}"`,
        ];
  return [
    own,
    ...budgets.map(
      ({ tag, models, rates }): Namer => ({
        ...{ code: "unmatched_budget_pattern", name: `A budget of "${tag}" ${place}`, kind: "Budgets" },
        ...{ models: models ?? [], rates: Object.keys(rates?.models ?? {}) },
      }),
    ),
  ];
}

/** What a pattern matches that matches no id. */
function whatElse(pattern: string, catalog: Catalog, kind: string): string {
  const found = [...catalog].find(([name]) => matchesPattern(pattern, name));
  if (found === undefined) return "nothing in the catalog. Check its spelling";
  const [alias, { id }] = found;
  return `no id in the catalog, but the alias "${alias}" of "${id}". ${kind} name ids: name that`;
}
