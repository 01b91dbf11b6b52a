import type { CompiledPrice } from "../prices/compiled-price.js";
import type { ModelType } from "../protocols/shared/model-type.js";
import type { ModelTraits } from "../protocols/shared/operation.js";
import type { ResolvedDrainLimits } from "../records/plans/plan-store.js";
import type { TargetRoute } from "../routing/target-route.js";

/** A model as calls use it: everything resolved when the catalog is built. */
export interface CatalogModel extends ModelTraits {
  readonly type: ModelType;
  /** The price for the hold of a call: the highest of its targets'. */
  readonly price: CompiledPrice;
  /** The targets of its calls. */
  readonly route: TargetRoute;
  /** How much of a response to keep reading after its client has left, unless the plan has its own setting. */
  readonly drain: ResolvedDrainLimits | "cancel";
  /** The model record as JSON text. */
  readonly record: string;
  /** The same model as each of its aliases calls it. */
  readonly aliases: readonly CatalogModel[];
}

/** The models by id, each followed by itself under its aliases, in the order in which they are listed. It never changes; another one may take its place. */
export type Catalog = ReadonlyMap<string, CatalogModel>;

/**
 * Where the catalog of now is. A request reads it once, and goes on with what it read: models, prices and targets of one
 * request come from one catalog.
 */
export interface CurrentCatalog {
  readonly current: Catalog;
}
