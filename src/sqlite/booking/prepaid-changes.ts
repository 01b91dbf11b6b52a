import { LedgerConflictError, LedgerInputError } from "../../ledger/credit-ledger.js";
import { authorTags } from "../../ledger/journal/author-tags.js";
import { newAccountLimits } from "../../ledger/limits/account-limits.js";
import {
  addTopUp,
  chargePrepaid,
  neverExpires,
  newPrepaid,
  type Prepaid,
  prepaidState,
} from "../../ledger/limits/prepaid.js";
import type { DeductRequest, PrepaidState, TopUpRequest } from "../../ledger/prepaid-state.js";
import { requireSame } from "../../ledger/receipt.js";
import type { AccountBook, AccountTables } from "./account-book.js";

/** What adds prepaid credits and takes them back. */
export class PrepaidChanges {
  readonly #tables: Pick<AccountTables, "accounts" | "journal">;
  readonly #book: AccountBook;

  constructor(tables: Pick<AccountTables, "accounts" | "journal">, book: AccountBook) {
    this.#tables = tables;
    this.#book = book;
  }

  topUp(request: TopUpRequest, now: number): PrepaidState {
    const { amountMicro, expiresAt = neverExpires } = request;
    return this.#change("topup", request, now, (prepaid) => {
      if (expiresAt <= now) throw new LedgerInputError(`expiresAt must be later than now, not ${expiresAt}.`);
      addTopUp(prepaid, amountMicro, expiresAt);
    });
  }

  deduct(request: DeductRequest, now: number): PrepaidState {
    const { amountMicro } = request;
    return this.#change("deduction", { ...request, amountMicro: -amountMicro }, now, (prepaid) => {
      chargePrepaid(prepaid, amountMicro, now);
    });
  }

  #change(
    kind: "topup" | "deduction",
    { id, account: accountId, amountMicro, expiresAt, by, note }: TopUpRequest,
    now: number,
    change: (prepaid: Prepaid) => void,
  ): PrepaidState {
    const { accounts, journal } = this.#tables;
    const account = this.#book.find(accountId, now);
    account.limits ??= newAccountLimits();
    account.limits.prepaid ??= newPrepaid();
    const { prepaid } = account.limits;
    const earlier = journal.prepaidChange(id);
    if (earlier) {
      requireSame(id, earlier, { account: accountId, amountMicro });
      if (earlier.expiresAt !== expiresAt) throw new LedgerConflictError(`${id} was used with another expiry.`);
      return prepaidState(prepaid, now);
    }
    change(prepaid);
    const tags = authorTags({ by, note });
    journal.write(account, { id, kind, at: now, amountMicro, starts: {}, tags, expiresAt });
    accounts.put(account);
    return prepaidState(prepaid, now);
  }
}
