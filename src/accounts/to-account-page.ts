import type { StoredAccount } from "./account-store.js";
import type { UncheckedAccountPage } from "./checked-account-store.js";

/**
 * A page of what a store has read in the order of the ids. The cursor is the id of the page's last account.
 * @param found - one more than `limit`, where there are as many.
 */
export function toAccountPage(found: readonly StoredAccount[], limit: number): UncheckedAccountPage {
  const accounts = found.slice(0, limit);
  const last = accounts.at(-1);
  return found.length > limit && last !== undefined ? { accounts, cursor: last.id } : { accounts };
}
