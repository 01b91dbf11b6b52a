import type { AccountPage, AccountPageRequest, StoredAccount } from "../../accounts/account-store.js";
import type { CreditLedger, LedgerEntry } from "../../ledger/credit-ledger.js";
import { nextTurn } from "../next-turn.js";
import { type AccountBalance, toAccountWindows } from "./account-balance.js";
import { type AccountTermsLookup, UnknownTermsError } from "./account-terms.js";

/** An account's record, with its credits and its last call. */
export interface ListedAccount extends StoredAccount, Partial<Pick<AccountBalance, "windows" | "prepaid">> {
  /**
   * When its newest call or hold ended that is in the journal, in epoch milliseconds. Absent where there is none among the
   * newest 1,000 entries, or the ledger keeps no journal.
   */
  lastCallAt?: number;
}

/** A page of accounts, each with `windows` unless its plan does not exist. */
export interface ListedAccountPage extends AccountPage {
  accounts: readonly ListedAccount[];
}

/** Which page of accounts to list. */
export interface AccountListRequest extends AccountPageRequest {
  /** `false`: the records alone, as for an export. Default: `true`, which reads the ledger for each of them. */
  credits?: boolean | undefined;
}

/** So many accounts are read at the same time. */
const readAtOnce = 8;
/** A call is nearly always among the first few. */
const lengthsOfPages = [20, 980];
/** Not `checkpoint`: it is written when somebody next uses the account. */
const ofCalls: readonly LedgerEntry["kind"][] = ["charge", "release"];

/** Adds their credits to accounts. */
export class AccountCreditsReader {
  readonly #ledger: CreditLedger;
  readonly #terms: AccountTermsLookup;

  constructor(ledger: CreditLedger, terms: AccountTermsLookup) {
    this.#ledger = ledger;
    this.#terms = terms;
  }

  /** @throws what the stores throw, for the first account that fails. No other is begun then. */
  async read(by: string, accounts: readonly StoredAccount[]): Promise<ListedAccount[]> {
    const listed: ListedAccount[] = [];
    let next = 0;
    let hasFailed = false;
    const readOn = async (): Promise<void> => {
      for (let index = next++; !hasFailed; index = next++) {
        const account = accounts[index];
        if (account === undefined) return;
        listed[index] = await this.#readOne(by, account);
      }
    };
    const readers = Array.from({ length: readAtOnce }, () =>
      readOn().catch((error: unknown) => {
        hasFailed = true;
        throw error;
      }),
    );
    await Promise.all(readers);
    return listed;
  }

  async #readOne(by: string, account: StoredAccount): Promise<ListedAccount> {
    const [credits, lastCallAt] = await Promise.all([this.#creditsOf(by, account), this.#lastCallAt(account.id)]);
    return { ...account, ...credits, ...(lastCallAt !== undefined && { lastCallAt }) };
  }

  async #creditsOf(
    by: string,
    { id, plan, anchor }: StoredAccount,
  ): Promise<Pick<ListedAccount, "windows" | "prepaid">> {
    try {
      const { limits } = await this.#terms.resolve(by, id, { plan, anchor: anchor ?? null });
      const { windows, prepaid } = await this.#ledger.balance(id, limits);
      return { windows: toAccountWindows(windows), ...(prepaid !== undefined && { prepaid }) };
    } catch (error) {
      if (error instanceof UnknownTermsError) return {};
      throw error;
    }
  }

  async #lastCallAt(account: string): Promise<number | undefined> {
    let cursor: string | undefined;
    for (const limit of lengthsOfPages) {
      const page = await this.#ledger.history?.({ account, cursor, limit });
      const last = page?.entries.find(({ kind }) => ofCalls.includes(kind));
      if (last !== undefined) return last.at;
      cursor = page?.cursor;
      if (cursor === undefined) return undefined;
      await nextTurn();
    }
    return undefined;
  }
}
