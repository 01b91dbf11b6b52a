import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../ledger/calendar.js";
import type { LedgerEngine } from "../../../ledger/engine/ledger-engine.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { AccountRow, AccountTable } from "./account-table.js";
import type { LedgerBatch } from "./ledger-batch.js";

/** So many accounts are looked at in one step: less than a millisecond of work. */
const accountsPerStep = 1_000;
/** The holds of so many accounts end in one transaction. Other processes write between those. */
const accountsPerTransaction = 16;
/** After those of so many, the next step is left to the next sweep. */
const mostAccounts = 1_000;

interface SweptParts {
  readonly connection: SqliteConnection;
  readonly batch: LedgerBatch;
  readonly accounts: AccountTable;
  readonly engine: LedgerEngine<AccountRow>;
}

/**
 * Ends the holds of accounts that nobody calls. It looks at every account: an index of what expires would cost each call
 * more than that.
 */
export class Sweep {
  readonly #parts: SweptParts;
  readonly #clock: Clock;

  constructor(parts: SweptParts, clock: Clock) {
    this.#parts = parts;
    this.#clock = clock;
  }

  /** @returns how many holds it has ended. */
  async run(): Promise<number> {
    const { connection, accounts: table } = this.#parts;
    const now = this.#clock.now();
    let [ended, accounts] = [0, 0];
    let after: string | undefined = "";
    while (after !== undefined && accounts < mostAccounts) {
      const place: string = after;
      const step = await connection.read(() => table.due(place, accountsPerStep, now));
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

  #end(accounts: readonly string[]): Promise<number> {
    const { batch, engine } = this.#parts;
    return batch.run(() => {
      const now = this.#clock.now();
      return accounts.reduce((ended, account) => ended + engine.endExpired(account, now), 0);
    });
  }
}
