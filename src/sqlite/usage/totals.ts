import { setImmediate } from "node:timers/promises";
import { addAccountTotals } from "../../ledger/usage/add-account-totals.js";
import { namedAccounts } from "../../ledger/usage/named-accounts.js";
import { TotalSums } from "../../ledger/usage/total-sums.js";
import type { PeriodTotal, TotalsRequest } from "../../ledger/usage/usage-totals.js";
import type { AccountTable } from "../account-table.js";
import type { JournalTable } from "../journal-table.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { AllTotals, tableOf } from "./all-totals.js";
import type { TotalsRollUp } from "./totals-roll-up.js";

interface Tables {
  readonly accounts: AccountTable;
  readonly journal: JournalTable;
  readonly rollUp: TotalsRollUp;
}

/** Adds up usage: of all accounts from their sums, and what these do not know of one account after the other, in steps. */
export class Totals {
  readonly #connection: SqliteConnection;
  readonly #tables: Tables;
  readonly #all: AllTotals;

  constructor(connection: SqliteConnection, tables: Tables) {
    this.#connection = connection;
    this.#tables = tables;
    this.#all = new AllTotals(connection, tables);
  }

  /** @param clock - now, inside of the transaction. */
  async read(request: TotalsRequest, clock: () => number): Promise<readonly PeriodTotal[]> {
    const sums = new TotalSums(request);
    if (tableOf(request) === undefined) {
      await this.#addEach(sums, request);
      return sums.list();
    }
    await this.#catchUp(clock);
    const { since } = await this.#connection.read(() => this.#tables.rollUp.summed());
    const before = request.periods.filter((moment) => moment < since);
    const end = Math.min(since, request.periods.at(-1) as number);
    if (before.length > 0)
      await this.#addEach(sums, { ...request, periods: [...before.filter((at) => at < end), end] });
    await this.#all.add(sums, request, since);
    return sums.list();
  }

  async #catchUp(clock: () => number): Promise<void> {
    const { rollUp } = this.#tables;
    if (!(await this.#connection.read(() => rollUp.isBehind()))) return;
    while (await this.#connection.write(() => rollUp.step(clock()))) await setImmediate();
  }

  async #addEach(sums: TotalSums, request: TotalsRequest): Promise<void> {
    const { journal } = this.#tables;
    const books = {
      history: (page: Parameters<JournalTable["read"]>[0]) => this.#connection.read(() => journal.read(page)),
      pause: () => setImmediate(),
    };
    for await (const account of this.#accounts(request)) await addAccountTotals(sums, request, account, books);
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
