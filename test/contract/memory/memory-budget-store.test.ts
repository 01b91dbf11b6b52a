import { memoryBudgetStore } from "../../../src/stores/memory/memory-stores.js";
import { describeBudgetStore } from "../../../src/testing/budget-store/describe-budget-store.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";

describeBudgetStore("memoryBudgetStore", async (account, budgets) => {
  const store = memoryBudgetStore();
  for (const budget of budgets) await store.put(account, budget);
  return store;
});

const shared = memoryBudgetStore();
describeWritableBudgetStore("memoryBudgetStore", async () => [shared, shared]);
