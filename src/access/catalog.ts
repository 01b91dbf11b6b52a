import type { CompiledPrice } from "../metering/price.js";
import type { ModelTraits, ModelType } from "../operations/operation.js";
import type { ResolvedDrainLimits } from "../plans/drain-limits.js";
import type { TargetRoute } from "../routing/target-route.js";
import { matchesPattern } from "./matches-pattern.js";

/** A model as calls use it: everything resolved at construction. */
export interface CatalogModel extends ModelTraits {
  readonly type: ModelType;
  /** Whether its responses may contain reasoning that is not shown. */
  readonly reasons: boolean;
  /** The price for the hold of a call: the highest of its targets'. */
  readonly price: CompiledPrice;
  /** The targets of its calls. */
  readonly route: TargetRoute;
  /** How much of a response to keep reading after its client has left, unless the plan has its own setting. */
  readonly drain: ResolvedDrainLimits | "cancel";
  /** The model record as JSON text. */
  readonly record: string;
}

/** The models by id, in the order in which they are listed. */
export type Catalog = ReadonlyMap<string, CatalogModel>;

/** The ids that match at least one of the patterns. `*` matches any run of characters. */
export function matchModels(catalog: Catalog, patterns: readonly string[]): ReadonlySet<string> {
  return new Set([...catalog.keys()].filter((id) => patterns.some((pattern) => matchesPattern(pattern, id))));
}
