import {
  type Clock,
  memoryAccountStore,
  memoryAuditTrail,
  memoryBudgetStore,
  memoryCreditLedger,
  memoryKeyStore,
  memoryModelStore,
  memoryPlanStore,
  memoryRequestLog,
} from "infergate";
import type { Stores } from "./open-stores.js";

/** Stores that end with the process. */
export function memoryStores(clock?: Clock): Stores {
  return {
    keys: memoryKeyStore([]),
    plans: memoryPlanStore({}),
    ledger: memoryCreditLedger({ clock }),
    accounts: memoryAccountStore(),
    budgets: memoryBudgetStore(),
    modelStore: memoryModelStore(),
    requestLog: memoryRequestLog({ clock }),
    audit: memoryAuditTrail({ clock }),
    close: () => {},
  };
}
