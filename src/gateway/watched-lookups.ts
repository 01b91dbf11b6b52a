import { accountLookup, type KnownAccount } from "../access/account-lookup.js";
import { type Allowance, type AllowanceLookupOptions, allowanceLookup } from "../access/allowance.js";
import { type BudgetLookup, budgetLookup } from "../access/budgets/budget-lookup.js";
import type { CachedLookup } from "../access/cached-lookup.js";
import { callerLookup, type IdentifiedCaller } from "../access/caller.js";
import type { CurrentCatalog } from "../access/catalog.js";
import { KeyUses } from "../access/key-uses.js";
import type { AccountStore, WritableAccountStore } from "../records/accounts/account-store.js";
import type { BudgetStore, WritableBudgetStore } from "../records/budgets/budget-store.js";
import type { KeyStore, WritableKeyStore } from "../records/keys/key-store.js";
import type { PlanStore, WritablePlanStore } from "../records/plans/plan-store.js";
import { ChangeWatch } from "./change-watch.js";

export interface WatchedLookups {
  readonly findCaller: CachedLookup<IdentifiedCaller>;
  readonly findAllowance: CachedLookup<Allowance>;
  /** `undefined`: the key store does not keep when keys were used. */
  readonly keyUses: KeyUses | undefined;
  /** `undefined`: there is no account store. */
  readonly findAccount: CachedLookup<KnownAccount> | undefined;
  readonly budgets: BudgetLookup;
  /** Ends the subscriptions, and writes when keys were used. */
  close(): Promise<void>;
}

/** The parts of the stores that lookups use: `subscribe` only where the store has it. */
interface LookupStores {
  readonly keys: KeyStore & Partial<Omit<WritableKeyStore, "find">>;
  readonly plans: PlanStore & Partial<Omit<WritablePlanStore, "find">>;
  readonly budgets?: (BudgetStore & Partial<Omit<WritableBudgetStore, "find">>) | undefined;
  readonly accounts?: (AccountStore & Partial<Omit<WritableAccountStore, "find">>) | undefined;
}

/**
 * Finds keys, plans, accounts and budgets through caches. Where a store sends notices, changes in another process clear the cached record.
 */
export function watchedLookups(
  { keys, plans, accounts, budgets }: LookupStores,
  catalog: CurrentCatalog,
  options: AllowanceLookupOptions,
): WatchedLookups {
  const { warn, isolate = false } = options;
  const keyWatch = new ChangeWatch({
    subscribe: keys.subscribe && ((onChange) => keys.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (hash) => findCaller.forget(hash),
    what: "key",
    ...{ warn, isolate },
  });
  const planWatch = new ChangeWatch({
    subscribe: plans.subscribe && ((onChange) => plans.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (id) => findAllowance.forget(id),
    what: "plan",
    ...{ warn, isolate },
  });
  const accountWatch = new ChangeWatch({
    subscribe: accounts?.subscribe && ((onChange) => accounts.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (id) => findAccount?.forget(id),
    what: "account",
    ...{ warn, isolate },
  });
  const budgetWatch = new ChangeWatch({
    subscribe: budgets?.subscribe && ((onChange) => budgets.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (account) => findBudgets.forget(account),
    what: "budget",
    ...{ warn, isolate },
  });
  const hasAccounts = accounts !== undefined;
  const findCaller = callerLookup(keys, { ...options, hasAccounts, mayRemember: keyWatch.mayRemember });
  const findAllowance = allowanceLookup(plans, catalog, { ...options, mayRemember: planWatch.mayRemember });
  const findAccount =
    accounts && accountLookup(accounts, catalog, { ...options, mayRemember: accountWatch.mayRemember });
  const findBudgets = budgetLookup(budgets, catalog, { ...options, mayRemember: budgetWatch.mayRemember });
  const keyUses = keys.touch && new KeyUses((uses) => keys.touch?.(uses), options);
  return {
    findCaller,
    findAllowance,
    keyUses,
    findAccount,
    budgets: findBudgets,
    close: async () => {
      await keyUses?.close();
      await Promise.all([keyWatch, planWatch, accountWatch, budgetWatch].map((watch) => watch.close()));
    },
  };
}

const nothingToEnd = async (): Promise<void> => {};
