import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import type { TrueBooks } from "./true-books.js";

/** The same rules. The books learn what was decided when it is. */
export function observedRules(rules: CreditLedger, books: TrueBooks): CreditLedger {
  return {
    ...rules,
    reserve: async (request) => {
      const result = await rules.reserve(request);
      books.admitted(request, result);
      return result;
    },
    renew: async (requests) => {
      const statuses = await rules.renew(requests);
      for (const [index, { lease, leaseMs }] of requests.entries()) {
        if (statuses[index] === "renewed") books.renewed(lease.id, leaseMs);
      }
      return statuses;
    },
    settle: async (lease, settlement) => {
      const result = await rules.settle(lease, settlement);
      books.settled(lease.id);
      return result;
    },
    release: async (lease, rates) => {
      const result = await rules.release(lease, rates);
      books.settled(lease.id);
      return result;
    },
  };
}
