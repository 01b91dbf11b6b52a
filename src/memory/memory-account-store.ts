import { newAccountSchema } from "../accounts/account-schema.js";
import type { AccountRecord, WritableAccountStore } from "../accounts/account-store.js";
import { recordAccountStore, recordOfAccount } from "../accounts/record-account-store.js";
import { explainOnce } from "../check/explain-issue.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { MemoryRecordStore } from "./memory-record-store.js";
/**
 * Accounts in memory, by id: those of the configuration, and those that are put, which are gone when the process ends.
 * @throws TypeError when an account is not valid, or appears twice.
 */
export function memoryAccountStore(accounts: readonly AccountRecord[] = []): WritableAccountStore {
  if (!Array.isArray(accounts)) {
    throw new TypeError('memoryAccountStore: pass a list of accounts, such as [{ id: "acct_1", plan: "pro" }].');
  }
  const records = new MemoryRecordStore();
  for (const [index, account] of accounts.entries()) {
    const what = `memoryAccountStore: accounts[${index}] is not valid`;
    const checked = newAccountSchema.safeParse(account, explainOnce("member"));
    if (!checked.success) throw new TypeError(listProblems(what, problemsOf(checked.error)));
    const isNew = records.add("account_record", recordOfAccount(checked.data));
    if (!isNew) throw new TypeError(listProblems(what, ["id: appears twice"]));
  }
  return recordAccountStore("memoryAccountStore", records);
}
