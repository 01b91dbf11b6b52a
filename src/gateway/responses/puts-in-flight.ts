import { nextTurn } from "../../ledger/journal/next-turn.js";
import { RotatingMap } from "../../memory/rotating-map.js";
import { BackgroundWork } from "../../runtime/background-work.js";

/** Longer than any call takes. */
const longestCallMs = 86_400_000;

/** Puts what is kept and what is forgotten in order: no response of an account comes back once the account is forgotten. */
export class PutsInFlight {
  /** By account: the moment, as counted here. */
  readonly #forgotten = new RotatingMap<number>(longestCallMs);
  readonly #puts = new BackgroundWork();
  #moment = 0;

  /** A call begins. @returns whether its account has been forgotten since. */
  begin(account: string): () => boolean {
    const begunAt = this.#moment;
    return () => (this.#forgotten.get(account) ?? -1) >= begunAt;
  }

  add(account: string, put: Promise<void>): void {
    this.#puts.add(put, account);
  }

  /** Resolves when nothing of what the account had comes any more. */
  async forget(account: string): Promise<void> {
    this.#forgotten.set(account, this.#moment++, Date.now());
    await this.#puts.of(account);
  }

  /** Resolves when no put is under way any more. */
  async settled(): Promise<void> {
    // A call that was settled just now puts its response in this turn.
    await nextTurn();
    await this.#puts.idle();
  }
}
