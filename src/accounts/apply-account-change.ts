import { withoutNulls } from "../check/without-nulls.js";
import type { AccountChange, StoredAccount } from "./account-store.js";

/** The account as {@link WritableAccountStore.update} leaves it. */
export function applyAccountChange(account: StoredAccount, change: AccountChange): StoredAccount {
  const { plan = account.plan, anchor = account.anchor, status = account.status } = change;
  const {
    message = account.message,
    metadata = account.metadata,
    rates = account.rates,
    models = account.models,
  } = change;
  const { priceFactor = account.priceFactor } = change;
  return withoutNulls({ id: account.id, plan, anchor, status, message, metadata, rates, models, priceFactor });
}

/** The account as {@link WritableAccountStore.put} leaves it. @param earlier - the one of the same id. */
export function applyAccountPut(account: StoredAccount, earlier: StoredAccount | undefined): StoredAccount {
  if (account.status !== undefined && account.status !== null) return account;
  return withoutNulls({ ...account, status: earlier?.status, message: earlier?.message });
}
