import { type Allowance, type AllowanceLookupOptions, allowanceLookup } from "../access/allowance.js";
import type { CachedLookup } from "../access/cached-lookup.js";
import { type Caller, callerLookup } from "../access/caller.js";
import type { Catalog } from "../access/catalog.js";
import type { KeyStore, WritableKeyStore } from "../keys/key-store.js";
import type { PlanStore, WritablePlanStore } from "../plans/plan-store.js";
import { ChangeWatch } from "./change-watch.js";

export interface WatchedLookups {
  readonly findCaller: CachedLookup<Caller>;
  readonly findAllowance: CachedLookup<Allowance>;
  /** Ends the subscriptions. */
  close(): Promise<void>;
}

/** The parts of the stores that lookups use: `subscribe` only where the store has it. */
interface LookupStores {
  readonly keys: KeyStore & Partial<Omit<WritableKeyStore, "find">>;
  readonly plans: PlanStore & Partial<Omit<WritablePlanStore, "find">>;
}

/**
 * Finds keys and plans through caches. Where a store sends notices, changes in another process clear the cached record.
 */
export function watchedLookups(
  { keys, plans }: LookupStores,
  catalog: Catalog,
  options: AllowanceLookupOptions,
): WatchedLookups {
  const { warn } = options;
  const keyWatch = new ChangeWatch({
    subscribe: keys.subscribe && ((onChange) => keys.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (hash) => findCaller.forget(hash),
    what: "key",
    warn,
  });
  const planWatch = new ChangeWatch({
    subscribe: plans.subscribe && ((onChange) => plans.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (id) => findAllowance.forget(id),
    what: "plan",
    warn,
  });
  const findCaller = callerLookup(keys, catalog, { ...options, mayRemember: keyWatch.mayRemember });
  const findAllowance = allowanceLookup(plans, catalog, { ...options, mayRemember: planWatch.mayRemember });
  return {
    findCaller,
    findAllowance,
    close: async () => {
      await Promise.all([keyWatch.close(), planWatch.close()]);
    },
  };
}

const nothingToEnd = async (): Promise<void> => {};
