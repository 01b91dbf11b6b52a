import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../ledger/clock.js";
import type { AccountTable } from "../account-table.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { AccountBook } from "./account-book.js";

/** So many accounts are looked at in one step: less than a millisecond of work. */
const accountsPerStep = 1_000;
/** The holds of so many accounts end in one transaction. Other processes write between those. */
const accountsPerTransaction = 16;
/** After those of so many, the next step is left to the next sweep. */
const mostAccounts = 1_000;

/**
 * Ends the holds of accounts that nobody calls. It looks at every account: an index of what expires would cost each call
 * more than that.
 */
export class Sweep {
  readonly #connection: SqliteConnection;
  readonly #clock: Clock;
  readonly #accounts: AccountTable;
  readonly #book: AccountBook;

  constructor(connection: SqliteConnection, clock: Clock, tables: { accounts: AccountTable; book: AccountBook }) {
    this.#connection = connection;
    this.#clock = clock;
    this.#accounts = tables.accounts;
    this.#book = tables.book;
  }

  /** @returns how many holds it has ended. */
  async run(): Promise<number> {
    const now = this.#clock.now();
    let [ended, accounts] = [0, 0];
    let after: string | undefined = "";
    while (after !== undefined && accounts < mostAccounts) {
      const place: string = after;
      const step = await this.#connection.read(() => this.#accounts.due(place, accountsPerStep, now));
      for (let first = 0; first < step.due.length; first += accountsPerTransaction) {
        ended += await this.#end(step.due.slice(first, first + accountsPerTransaction));
        await setImmediate();
      }
      accounts += step.due.length;
      after = step.next;
      await setImmediate();
    }
    return ended;
  }

  #end(accounts: readonly string[]): number | Promise<number> {
    return this.#connection.write(() => {
      const now = this.#clock.now();
      return accounts.reduce((ended, account) => ended + this.#book.endExpired(account, now), 0);
    });
  }
}
