import type { WritableBudgetStore } from "../budgets/budget-store.js";
import { recordBudgetStore } from "../budgets/record-budget-store.js";
import { MemoryRecordStore } from "./memory-record-store.js";

/** Budgets in memory. They are gone when the process ends. */
export function memoryBudgetStore(): WritableBudgetStore {
  return recordBudgetStore("memoryBudgetStore", new MemoryRecordStore());
}
