import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../ledger/clock.js";
import { maxLeaseMs } from "../../ledger/ledger-input.js";
import type { AccountTable } from "../account-table.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { AccountBook } from "./account-book.js";

/** So many accounts are looked at in one step: some milliseconds of work. */
const accountsPerStep = 2_000;
/** The holds of so many accounts end in one transaction. Other processes write between those. */
const accountsPerTransaction = 16;
/** After so many, the rest is left to the next sweep. */
const mostAccounts = 1_024;

/**
 * Ends the holds of accounts that nobody calls. It reads the row of each account, which costs the calls themselves
 * nothing, as an index of what expires would.
 */
export class Sweep {
  readonly #connection: SqliteConnection;
  readonly #clock: Clock;
  readonly #accounts: AccountTable;
  readonly #book: AccountBook;
  /** What was due by then has been looked for. `undefined`: nothing was yet. */
  #sweptUntil: number | undefined;

  constructor(connection: SqliteConnection, clock: Clock, tables: { accounts: AccountTable; book: AccountBook }) {
    this.#connection = connection;
    this.#clock = clock;
    this.#accounts = tables.accounts;
    this.#book = tables.book;
  }

  /** @returns how many holds it has ended. */
  async run(): Promise<number> {
    const now = this.#clock.now();
    const since = this.#sweptUntil;
    // No hold expires later than its account's next expiry and the longest lease, unless the clock was put back.
    const from = since === undefined || now < since ? Number.MIN_SAFE_INTEGER : since - maxLeaseMs;
    let [ended, accounts] = [0, 0];
    let after: string | undefined = "";
    while (after !== undefined && accounts < mostAccounts) {
      const place: string = after;
      const step = await this.#connection.read(() => this.#accounts.due(place, accountsPerStep, { from, now }));
      for (let first = 0; first < step.due.length; first += accountsPerTransaction) {
        ended += await this.#end(step.due.slice(first, first + accountsPerTransaction));
      }
      accounts += step.due.length;
      after = step.next;
      await setImmediate();
    }
    if (after === undefined) this.#sweptUntil = now;
    return ended;
  }

  #end(accounts: readonly string[]): number | Promise<number> {
    return this.#connection.write(() => {
      const now = this.#clock.now();
      return accounts.reduce((ended, account) => ended + this.#book.endExpired(account, now), 0);
    });
  }
}
