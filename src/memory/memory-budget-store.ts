import type { KeptBudget, WritableBudgetStore } from "../budgets/budget-store.js";
import { checkedBudgetStore } from "../budgets/checked-budget-store.js";
import { toBudgetPage } from "../budgets/to-budget-page.js";
import { firstAfter } from "./first-after.js";
import { Notices } from "./notices.js";

/** The budgets of one account, by their fields. */
interface Shelf {
  readonly byField: Map<string, KeptBudget>;
  /** The fields in order, until one comes or goes. */
  sorted: readonly string[] | undefined;
}

/** Budgets in memory. They are gone when the process ends. */
export function memoryBudgetStore(): WritableBudgetStore {
  const shelves = new Map<string, Shelf>();
  const notices = new Notices();

  return checkedBudgetStore("memoryBudgetStore", {
    async read(account, fields) {
      const { byField } = shelves.get(account) ?? empty;
      return structuredClone(fields.flatMap((field) => byField.get(field) ?? []));
    },
    async put(account, field, budget) {
      const shelf = shelves.get(account) ?? { byField: new Map(), sorted: undefined };
      shelves.set(account, shelf);
      if (!shelf.byField.has(field)) shelf.sorted = undefined;
      shelf.byField.set(field, structuredClone(budget));
      notices.tell(account);
    },
    async remove(account, field) {
      const shelf = shelves.get(account);
      if (shelf?.byField.delete(field) !== true) return false;
      shelf.sorted = undefined;
      if (shelf.byField.size === 0) shelves.delete(account);
      notices.tell(account);
      return true;
    },
    async list(account, { cursor = "", limit }) {
      const shelf = shelves.get(account) ?? empty;
      shelf.sorted ??= [...shelf.byField.keys()].sort();
      const first = firstAfter(shelf.sorted, cursor);
      const found = shelf.sorted.slice(first, first + limit + 1).flatMap((field) => shelf.byField.get(field) ?? []);
      return structuredClone(toBudgetPage(found, limit));
    },
    async forget(account) {
      if (shelves.delete(account)) notices.tell(account);
    },
    subscribe: (onChange) => notices.subscribe(onChange),
  });
}

const empty: Shelf = { byField: new Map(), sorted: [] };
