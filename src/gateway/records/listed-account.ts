import type { AccountPage, AccountPageRequest, KeptAccount } from "../../accounts/account-store.js";
import type { AccountBalance } from "../admin/account-balance.js";

/** An account's record, with its credits and its last call. */
export interface ListedAccount extends KeptAccount, Partial<Pick<AccountBalance, "windows" | "prepaid">> {
  /**
   * When its newest call or hold ended that is in the journal, in epoch milliseconds. Absent where there is none among the
   * newest 1,000 entries, or the ledger keeps no journal.
   */
  lastCallAt?: number;
  /**
   * Its credits and its last call could not be read, and are absent: its ledger, or its shard of one, is away, or its plan
   * cannot be read.
   */
  creditsUnavailable?: true;
}

/** A page of accounts, each with `windows` unless its plan does not exist, or its credits are unavailable. */
export interface ListedAccountPage extends AccountPage {
  accounts: readonly ListedAccount[];
}

/** Which page of accounts to list. */
export interface AccountListRequest extends AccountPageRequest {
  /** `false`: the records alone, as for an export. Default: `true`, which reads the ledger for each of them. */
  credits?: boolean | undefined;
}
