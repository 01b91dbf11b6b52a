import type { z } from "zod";
import { KeyCaps } from "../../access/key-caps.js";
import { RateRules } from "../../access/rate-rules.js";
import { checkInput, InputError, UnsupportedError } from "../../check/check-input.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import type { Rates } from "../../prices/rates.js";
import type { WritableAccountStore } from "../../records/accounts/account-store.js";
import type { WritableBudgetStore } from "../../records/budgets/budget-store.js";
import type { KeyCredits, WritableKeyStore } from "../../records/keys/key-store.js";
import type { Plan, WritablePlanStore } from "../../records/plans/plan-store.js";
import { fromStore } from "./from-store.js";

/**
 * Checks what a method is called with that takes the account first. An account among the rest would be a second one.
 * @throws TypeError as {@link checkInput}.
 */
export function checkAccountInput<Schema extends z.ZodObject>(
  by: string,
  schema: Schema,
  account: string,
  given: object,
): z.output<Schema> {
  if ((given as { account?: unknown } | null)?.account !== undefined) {
    throw new InputError(`${by}: There is no member \`account\`: the account is the first argument.`);
  }
  return checkInput(by, schema, { ...given, account });
}

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

/** A plan, account, key or budget, as far as it may limit calls. */
export interface Limited {
  readonly credits?: KeyCredits | null | undefined;
  readonly rates?: Rates | null | undefined;
}

/**
 * @param by - the public method, for the error.
 * @param what - what has the limits, such as `the plan "pro"`.
 * @throws UnsupportedError for caps and rates that the ledger would not keep.
 */
export function requireLimitsKept(
  by: string,
  ledger: Pick<CreditLedger, "keepsLimits">,
  what: string,
  { credits, rates }: Limited,
): void {
  if (ledger.keepsLimits === true) return;
  const scope = { owner: "plan", counters: "" } as const;
  const hasRates = RateRules.of(scope, rates) !== undefined;
  if (!hasRates && KeyCaps.of("", credits) === undefined) return;
  const kind = hasRates ? "rates" : "caps";
  throw new UnsupportedError(
    `${by}: this ledger keeps no ${kind}: ${what} has some, which would limit nothing. Take them away, or use a ledger ` +
      "with `keepsLimits`.",
  );
}

/** The same for a plan and its budgets. @throws UnsupportedError */
export function requirePlanKept(by: string, ledger: Pick<CreditLedger, "keepsLimits">, plan: Plan): void {
  const name = `the plan ${JSON.stringify(plan.id)}`;
  requireLimitsKept(by, ledger, name, { rates: plan.rates });
  for (const budget of plan.budgets ?? []) requireLimitsKept(by, ledger, `a budget of ${name}`, budget);
}

/**
 * Of a ledger that keeps no journal.
 * @param by - the public method.
 * @param lack - what the ledger does not do.
 */
export function ledgerLacks(by: string, lack: string): UnsupportedError {
  return new UnsupportedError(
    `${by}: the gateway's ledger ${lack}. Use the one of sqliteStores, redisStores or postgresStores, or memoryCreditLedger ` +
      "with historyEntries above 0.",
  );
}
