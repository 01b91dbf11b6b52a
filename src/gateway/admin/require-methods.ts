import type { WritableAccountStore } from "../../accounts/account-store.js";
import type { WritableBudgetStore } from "../../budgets/budget-store.js";
import { UnsupportedError } from "../../check/unsupported-error.js";
import type { WritableKeyStore } from "../../keys/key-store.js";
import type { WritablePlanStore } from "../../plans/plan-store.js";
import { fromStore } from "./from-store.js";

interface Contracts {
  key: WritableKeyStore;
  plan: WritablePlanStore;
  account: WritableAccountStore;
  budget: WritableBudgetStore;
}

const kinds = {
  key: { contract: "WritableKeyStore", inMemory: "memoryKeyStore" },
  plan: { contract: "WritablePlanStore", inMemory: "memoryPlanStore" },
  account: { contract: "WritableAccountStore", inMemory: "memoryAccountStore" },
  budget: { contract: "WritableBudgetStore", inMemory: "memoryBudgetStore" },
};

/**
 * Returns these methods of the store. What they throw is as {@link fromStore} has it.
 * @throws UnsupportedError that says what to do if the store lacks one.
 */
export function requireMethods<Kind extends keyof Contracts, Method extends keyof Contracts[Kind] & string>(
  by: string,
  kind: Kind,
  given: object,
  methods: readonly Method[],
): Pick<Contracts[Kind], Method> {
  const store = given as Record<string, unknown>;
  const missing = methods.filter((method) => typeof store[method] !== "function");
  if (missing.length === 0) {
    const asked = methods.map((method) => [method, asking(by, kind, store as AnyStore, method)]);
    return Object.fromEntries(asked) as Pick<Contracts[Kind], Method>;
  }
  const names = missing.map((method) => `\`${method}\``).join(", ");
  const { contract, inMemory } = kinds[kind];
  throw new UnsupportedError(
    `${by}: the gateway's ${kind} store lacks ${names}. Use the one of sqliteStores, redisStores or postgresStores, or ` +
      `${inMemory}; or give yours the methods of ${contract}; or go on managing ${kind}s where your store finds them.`,
  );
}

type AnyStore = Record<string, (...args: readonly unknown[]) => unknown>;

function asking(by: string, kind: keyof Contracts, store: AnyStore, method: string) {
  return (...args: readonly unknown[]) => fromStore(by, kind, () => store[method]?.(...args));
}
