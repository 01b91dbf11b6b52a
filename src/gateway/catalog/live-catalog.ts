import { toAllowance } from "../../access/allowance.js";
import type { Catalog, CurrentCatalog } from "../../access/catalog.js";
import { warnOfUnmatched } from "../../access/warn-of-unmatched.js";
import { serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { PlanStore } from "../../plans/plan-store.js";
import { buildCatalog } from "./build-catalog.js";
import { type CatalogChange, checkCatalogChange } from "./catalog-change.js";
import type { CatalogOptions } from "./catalog-shape.js";
import { UsedProviders } from "./used-providers.js";

/** What a change of the catalog works with. */
interface ChangeServices {
  readonly openCalls: { readonly isClosing: boolean };
  readonly plans: PlanStore;
  /** Gets what plans name that the catalog does not have. */
  readonly warn: Warn;
}

/** The catalog of now, which `gateway.update` replaces as a whole. */
export class LiveCatalog implements CurrentCatalog {
  #options: CatalogOptions;
  #current: Catalog;
  readonly #keyPrefix: string;
  readonly #providers = new UsedProviders();

  /** @throws TypeError for a price that is not valid. */
  constructor(options: CatalogOptions & { readonly keyPrefix: string }) {
    this.#keyPrefix = options.keyPrefix;
    this.#options = { models: options.models, providers: options.providers };
    this.#current = this.#swap("createGateway", this.#options);
  }

  get current(): Catalog {
    return this.#current;
  }

  /**
   * Replaces the catalog in one step. Calls in progress keep theirs.
   * @throws TypeError or RangeError when the change or a listed plan is not valid, GatewayError 503 when the gateway is
   * closed, and what the plan store throws. Then nothing has changed.
   */
  update(change: CatalogChange, { openCalls, plans, warn }: ChangeServices): void {
    const by = "gateway.update";
    if (openCalls.isClosing) throw serviceUnavailable(`${by}: the gateway is closed.`);
    const options = checkCatalogChange(by, change, this.#options);
    const named = Array.from(plans.list?.() ?? [], (plan) => toAllowance(plan.id, plan));
    this.#current = this.#swap(by, options, this.#current);
    this.#options = options;
    for (const allowance of named) warnOfUnmatched(allowance, this.#current, warn);
  }

  /** Closes the providers. */
  close(): Promise<void> {
    return this.#providers.close();
  }

  #swap(by: string, { models, providers: given }: CatalogOptions, previous?: Catalog): Catalog {
    const providers = this.#providers.match(given);
    const built = buildCatalog(models, { by, keyPrefix: this.#keyPrefix, providers, previous });
    this.#providers.commit(providers);
    return built;
  }
}
