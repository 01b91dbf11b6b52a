import { nextTurn } from "../../ledger/journal/next-turn.js";
import { RotatingMap } from "../../memory/rotating-map.js";

/** Longer than any call takes. */
const longestCallMs = 86_400_000;

/** Puts what is kept and what is forgotten in order: no response of an account comes back once the account is forgotten. */
export class PutsInFlight {
  /** By account: the moment, as counted here. */
  readonly #forgotten = new RotatingMap<number>(longestCallMs);
  readonly #puts = new Map<Promise<void>, string>();
  #moment = 0;

  /** A call begins. @returns whether its account has been forgotten since. */
  begin(account: string): () => boolean {
    const begunAt = this.#moment;
    return () => (this.#forgotten.get(account) ?? -1) >= begunAt;
  }

  /** @param put - it must not reject. */
  add(account: string, put: Promise<void>): Promise<void> {
    const done = put.then(() => void this.#puts.delete(done));
    this.#puts.set(done, account);
    return done;
  }

  /** Resolves when nothing of what the account had comes any more. */
  async forget(account: string): Promise<void> {
    this.#forgotten.set(account, this.#moment++, Date.now());
    await Promise.all([...this.#puts].filter(([, owner]) => owner === account).map(([put]) => put));
  }

  /** Resolves when no put is under way any more. */
  async settled(): Promise<void> {
    // A call that was settled just now puts its response in this turn.
    await nextTurn();
    await Promise.all(this.#puts.keys());
  }
}
