import { atMost } from "./promised.js";

/** A connection that hangs must delay neither later notices nor the end of the ledger. */
const mostMs = 10_000;

/**
 * Notifies other processes of accounts that may have credits again. Without a notice they find out a moment later.
 *
 * No operation waits for its notice. If one did, a hanging connection would make a finished change look failed; a
 * caller who repeated a reset would then wipe out later charges. One notice is sent at a time, since it may hold a
 * connection. Accounts that come meanwhile go together in the next one.
 */
export class Announcements {
  readonly #notify: (accounts: readonly string[]) => Promise<unknown>;
  readonly #waiting = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(notify: (accounts: readonly string[]) => Promise<unknown>) {
    this.#notify = notify;
  }

  add(account: string): void {
    this.#waiting.add(account);
    this.#running ??= this.#run();
  }

  /** Resolves when all notices were sent or have failed. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      const accounts = [...this.#waiting];
      this.#waiting.clear();
      await this.#attempt(accounts);
    }
    this.#running = undefined;
  }

  async #attempt(accounts: readonly string[]): Promise<void> {
    try {
      await atMost(mostMs, this.#notify(accounts));
    } catch {
      // The change itself is done.
    }
  }
}
