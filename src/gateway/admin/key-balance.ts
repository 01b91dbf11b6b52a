import { ownCounters } from "../../access/counter-name.js";
import { KeyCaps } from "../../access/key-caps.js";
import type { StoredKey } from "../../keys/key-store.js";
import type { Clock } from "../../ledger/clock.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { Calendar, windowLimits } from "../../ledger/windows.js";
import { type CapBalance, toCapBalance } from "../budgets/budget-balance.js";
import type { AccountTermsLookup } from "./account-terms.js";
import { fromLedger } from "./from-store.js";

/** What a key may cost, and what it has cost. */
export interface KeyBalance {
  /** Id of the key. */
  key: string;
  account: string;
  /** One for each of the key's `credits`. Empty: it has no caps of its own. */
  caps: readonly CapBalance[];
}

/** What the balances of keys are read with. */
export interface KeyBalanceServices {
  readonly ledger: CreditLedger;
  readonly terms: AccountTermsLookup;
  readonly clock: Clock;
}

/** Of this instant, as calls with the key count it. */
export async function keyBalance(
  by: string,
  { id, account, lineage, credits, anchor }: StoredKey,
  { ledger, terms, clock }: KeyBalanceServices,
): Promise<KeyBalance> {
  const caps = KeyCaps.of(ownCounters("key", lineage ?? id), credits);
  if (caps === undefined) return { key: id, account, caps: [] };
  const now = clock.now();
  const owner = (await terms.ofRecord(account)) ?? { anchor };
  const begin = owner.anchor ?? undefined;
  // The windows are not asked for.
  const unlimited = { session: null, week: null, month: null };
  const windows = windowLimits({ credits: unlimited, sessionMs: 1, anchor: begin, now });
  const limits = caps.limits(new Calendar(begin), now);
  const states = await fromLedger(by, () => ledger.balance(account, windows, { caps: limits }));
  return { key: id, account, caps: states.caps?.map(toCapBalance) ?? [] };
}
