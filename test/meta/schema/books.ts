import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import type { Balance, CreditLedger, Lease, LedgerEntry } from "../../../src/ledger/credit-ledger.js";
import type { StoredAccount, WritableAccountStore } from "../../../src/records/accounts/account-store.js";
import type { KeptBudget, WritableBudgetStore } from "../../../src/records/budgets/budget-store.js";
import type { StoredKey, WritableKeyStore } from "../../../src/records/keys/key-store.js";
import type { ModelStore, StoredModel } from "../../../src/records/models/model-store.js";
import type { Plan, WritablePlanStore } from "../../../src/records/plans/plan-store.js";
import type { KeptResponse, ResponseStore } from "../../../src/responses/response-store.js";

/** All that books are in. */
export interface BookedStores {
  readonly ledger: CreditLedger;
  readonly keys: WritableKeyStore;
  readonly plans: WritablePlanStore;
  readonly accounts: WritableAccountStore;
  readonly responses: ResponseStore;
  readonly budgets: WritableBudgetStore;
  readonly modelStore: ModelStore;
}

/** What a version said of its books when it left them. */
export interface Books {
  /** The store's clock then, in epoch milliseconds. */
  readonly at: number;
  readonly balances: Readonly<Record<string, Balance>>;
  /** The newest entry first. */
  readonly history: Readonly<Record<string, readonly LedgerEntry[]>>;
  /** The leases of the calls that the version began, by their ids. */
  readonly leases: Readonly<Record<string, Lease>>;
  readonly keys: readonly StoredKey[];
  readonly plan: Plan;
  readonly accounts: readonly StoredAccount[];
  readonly responses: readonly KeptResponse[];
  readonly budgets: readonly KeptBudget[];
  readonly models: readonly StoredModel[];
}

export const windowed = "windowed";
export const reset = "reset";
export const forgotten = "forgotten";
export const prepaid = "prepaid";
export const busy = "busy";

/** The accounts whose balance and history are in the books, and what limits them. */
export function limitsOf(account: string, now: number) {
  const credits =
    account === prepaid ? { session: 0, week: 0, month: 0 } : { session: 10_000, week: 50_000, month: null };
  return windowLimits({ credits, sessionMs: 5 * 3_600_000, now });
}

/** What a call of the prepaid account is limited by beside its windows. */
export function namedLimits(now: number) {
  const bounds = capBounds("month", undefined, now);
  return {
    caps: [{ id: "key_1/month", window: "month", limitMicro: 900, bounds }],
    rates: [
      { id: "key_1/tokens", kind: "tokens", take: 100, limit: 6_000, burst: 6_000 },
      { id: "key_1/calls", kind: "concurrent", take: 1, limit: 5, burst: 5 },
    ],
  } as const;
}
