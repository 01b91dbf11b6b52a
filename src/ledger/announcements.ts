import { atMost } from "./at-most.js";

/** A connection that hangs must keep neither those who come after it nor the ledger's end. */
const mostMs = 10_000;

/**
 * Tells other processes of accounts that may have stock again. Without it they learn so a moment later by themselves, so
 * nobody waits for it: were it awaited, one that hangs would make a change that is done look as if it had failed, and who
 * repeats a reset takes away what was charged since. One at a time is under way, for it may hold a connection; what comes
 * meanwhile goes together.
 */
export class Announcements {
  readonly #tell: (accounts: readonly string[]) => Promise<unknown>;
  readonly #waiting = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(tell: (accounts: readonly string[]) => Promise<unknown>) {
    this.#tell = tell;
  }

  add(account: string): void {
    this.#waiting.add(account);
    this.#running ??= this.#run();
  }

  /** Resolves when all has been told, or could not be. */
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
      await atMost(mostMs, this.#tell(accounts));
    } catch {
      // What was done stays done.
    }
  }
}
