import { setImmediate } from "node:timers/promises";
import { addAccountTotals } from "../../ledger/usage/add-account-totals.js";
import { namedAccounts } from "../../ledger/usage/named-accounts.js";
import { TotalSums } from "../../ledger/usage/total-sums.js";
import type { PeriodTotal, TotalsRequest } from "../../ledger/usage/usage-totals.js";
import type { AccountTable } from "../account-table.js";
import type { JournalTable } from "../journal-table.js";
import type { SqliteConnection } from "../sqlite-connection.js";

interface Tables {
  readonly accounts: AccountTable;
  readonly journal: JournalTable;
}

/** Adds up the usage of one account after the other, in steps. */
export class Totals {
  readonly #connection: SqliteConnection;
  readonly #tables: Tables;

  constructor(connection: SqliteConnection, tables: Tables) {
    this.#connection = connection;
    this.#tables = tables;
  }

  async read(request: TotalsRequest): Promise<readonly PeriodTotal[]> {
    const { journal } = this.#tables;
    const sums = new TotalSums(request);
    const books = {
      history: (page: Parameters<JournalTable["read"]>[0]) => this.#connection.read(() => journal.read(page)),
      pause: () => setImmediate(),
    };
    for await (const account of this.#accounts(request)) await addAccountTotals(sums, request, account, books);
    return sums.list();
  }

  async *#accounts(request: TotalsRequest): AsyncGenerator<string, void, undefined> {
    const named = namedAccounts(request);
    if (named !== undefined) return yield* named;
    for (let account: string | undefined = ""; ; ) {
      const after: string = account;
      account = await this.#connection.read(() => this.#tables.accounts.idAfter(after));
      if (account === undefined) return;
      yield account;
    }
  }
}
