import {
  type Allowance,
  allowanceLookup,
  type Caller,
  callerLookup,
  type StoreLookupOptions,
} from "../access/accounts.js";
import type { CachedLookup } from "../access/cached-lookup.js";
import type { Catalog } from "../access/catalog.js";
import type { Warn } from "../events/warning.js";
import type { KeyStore, WritableKeyStore } from "../keys/key-store.js";
import type { PlanStore, WritablePlanStore } from "../plans/plan-store.js";
import { ChangeWatch } from "./change-watch.js";

export interface WatchedLookups {
  readonly findCaller: CachedLookup<Caller>;
  readonly findAllowance: CachedLookup<Allowance>;
  /** Ends the subscriptions. */
  close(): Promise<void>;
}

/** Keys and plans through their caches, which forget what another process changes where the stores can tell. */
export function watchedLookups(
  {
    keys,
    plans,
  }: {
    keys: KeyStore & Partial<Omit<WritableKeyStore, "find">>;
    plans: PlanStore & Partial<Omit<WritablePlanStore, "find">>;
  },
  catalog: Catalog,
  cache: StoreLookupOptions,
  warn: Warn,
  warnOfPlans: Warn,
): WatchedLookups {
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
  const findCaller = callerLookup(keys, catalog, { ...cache, mayRemember: keyWatch.mayRemember }, warn);
  const findAllowance = allowanceLookup(
    plans,
    catalog,
    { ...cache, mayRemember: planWatch.mayRemember },
    warn,
    warnOfPlans,
  );
  return {
    findCaller,
    findAllowance,
    close: async () => {
      await Promise.all([keyWatch.close(), planWatch.close()]);
    },
  };
}

const nothingToEnd = async (): Promise<void> => {};
