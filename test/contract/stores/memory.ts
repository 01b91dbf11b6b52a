import { MemoryResponseCache } from "../../../src/cache/memory-response-cache.js";
import { memoryAuditTrail } from "../../../src/stores/memory/memory-audit-trail.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { MemoryRecordStore } from "../../../src/stores/memory/memory-record-store.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { memoryResponseStore } from "../../../src/stores/memory/memory-response-store.js";
import {
  memoryAccountStore,
  memoryBudgetStore,
  memoryKeyStore,
  memoryModelStore,
  memoryPlanStore,
} from "../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import type { StoreUnderTest } from "./store-under-test.js";

const twice = <Store>(store: Store) => [store, store] as const;

/** The memory of one process, which no other shares. */
export function memory(): StoreUnderTest {
  const emptyStores = () => ({
    keys: memoryKeyStore(),
    plans: memoryPlanStore(),
    accounts: memoryAccountStore(),
    budgets: memoryBudgetStore(),
    modelStore: memoryModelStore(),
  });
  const stores = emptyStores();
  return {
    name: "memory",
    records: () => twice(new MemoryRecordStore()),
    stores: () => twice(stores),
    emptyStores,
    ledger: (clock) => memoryCreditLedger({ clock }),
    ledgerOptions: {},
    audit: (limits) => twice(memoryAuditTrail(limits)),
    requestLog: memoryRequestLog,
    responses: (clock) => twice(memoryResponseStore({ clock })),
    responseRuns: 100,
    responseCache: () => twice(new MemoryResponseCache(8 * 1024 * 1024, new ManualClock(0))),
  };
}
