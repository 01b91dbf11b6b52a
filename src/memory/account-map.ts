import { LedgerUnavailableError } from "../ledger/credit-ledger.js";
import { dayMs } from "../ledger/windows.js";
import { Account } from "./account.js";

/**
 * How long an account that is over is kept. Should the clock have run ahead, setting it right must not refill the
 * account.
 */
const keepMs = dayMs;
const inspectedWhenFull = 1_000;

/**
 * The accounts of a memory ledger, bounded in number. A cursor goes round and drops accounts in which nothing is open,
 * a few at a time. It never drops an account in which something is open.
 */
export class AccountMap {
  readonly #limit: number;
  readonly #accounts = new Map<string, Account>();
  #cursor = this.#accounts.values();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#accounts.size;
  }

  get(account: string): Account | undefined {
    return this.#accounts.get(account);
  }

  /** @throws LedgerUnavailableError when there is no room. */
  add(accountId: string, now: number): Account {
    if (this.#accounts.size >= this.#limit) {
      this.inspect(inspectedWhenFull, now);
      if (this.#accounts.size >= this.#limit) {
        throw new LedgerUnavailableError(`The memory ledger is full: ${this.#limit} accounts have open windows.`);
      }
    }
    const account = new Account(accountId);
    this.#accounts.set(accountId, account);
    return account;
  }

  delete(account: string): void {
    this.#accounts.delete(account);
  }

  /** The accounts in which a hold has expired. */
  due(now: number): string[] {
    return [...this.#accounts.values()].filter((account) => account.due(now).length > 0).map(({ id }) => id);
  }

  /** Looks at the next `count` accounts and drops those that are over. */
  inspect(count: number, now: number): void {
    for (let left = Math.min(count, this.#accounts.size); left > 0; left--) {
      let next = this.#cursor.next();
      if (next.done) {
        this.#cursor = this.#accounts.values();
        next = this.#cursor.next();
      }
      if (next.value?.isOver(now - keepMs)) this.#accounts.delete(next.value.id);
    }
  }
}
