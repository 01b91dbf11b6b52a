import { newAccountSchema } from "../accounts/account-schema.js";
import type { AccountRecord, StoredAccount, WritableAccountStore } from "../accounts/account-store.js";
import { hasVersion } from "../accounts/account-version.js";
import { applyAccountChange, applyAccountPut } from "../accounts/apply-account-change.js";
import { checkedAccountStore } from "../accounts/checked-account-store.js";
import { toAccountPage } from "../accounts/to-account-page.js";
import { explainOnce } from "../check/explain-issue.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { withoutNulls } from "../check/without-nulls.js";
import { firstAfter } from "./first-after.js";
import { Notices } from "./notices.js";

/**
 * Accounts in memory, by id: those of the configuration, and those that are put, which are gone when the process ends.
 * @throws TypeError when an account is not valid, or appears twice.
 */
export function memoryAccountStore(accounts: readonly AccountRecord[] = []): WritableAccountStore {
  if (!Array.isArray(accounts)) {
    throw new TypeError('memoryAccountStore: pass a list of accounts, such as [{ id: "acct_1", plan: "pro" }].');
  }
  const byId = new Map<string, StoredAccount>();
  for (const [index, account] of accounts.entries()) {
    const what = `memoryAccountStore: accounts[${index}] is not valid`;
    const checked = newAccountSchema.safeParse(account, explainOnce("member"));
    if (!checked.success) throw new TypeError(listProblems(what, problemsOf(checked.error)));
    if (byId.has(checked.data.id)) throw new TypeError(listProblems(what, ["id: appears twice"]));
    byId.set(checked.data.id, structuredClone(withoutNulls(checked.data)));
  }
  return checkedAccountStore("memoryAccountStore", storeOf(byId));
}

function storeOf(byId: Map<string, StoredAccount>): Parameters<typeof checkedAccountStore>[1] {
  const notices = new Notices();
  /** The ids in order, until one comes or goes. */
  let sorted: readonly string[] | undefined;

  const save = (account: StoredAccount) => {
    if (!byId.has(account.id)) sorted = undefined;
    byId.set(account.id, structuredClone(account));
    notices.tell(account.id);
  };

  return {
    find: async (id) => structuredClone(byId.get(id)),
    async put(account) {
      save(applyAccountPut(account, byId.get(account.id)));
    },
    async replace(account, expected) {
      if (!hasVersion(byId.get(account.id), expected)) return false;
      save(account);
      return true;
    },
    async list({ cursor = "", limit }) {
      sorted ??= [...byId.keys()].sort();
      const first = firstAfter(sorted, cursor);
      const found = sorted.slice(first, first + limit + 1).flatMap((id) => byId.get(id) ?? []);
      return structuredClone(toAccountPage(found, limit));
    },
    async update(id, change) {
      const account = byId.get(id);
      if (account === undefined) return undefined;
      const updated = applyAccountChange(account, change);
      save(updated);
      return structuredClone(updated);
    },
    async forget(id) {
      if (!byId.delete(id)) return;
      sorted = undefined;
      notices.tell(id);
    },
    subscribe: (onChange) => notices.subscribe(onChange),
  };
}
