import type { LedgerReply } from "../ledger-reply.js";

/** What the script needs to know of an operation. */
export interface BatchedOperation {
  readonly account: string;
  /** Of the account. */
  readonly keys: readonly string[];
  /** JSON. */
  readonly text: string;
  /** The last part of the key that belongs to the operation's id, where it has one. */
  readonly ownKey?: string | undefined;
}

/** An operation, and its caller. */
export interface Waiting {
  readonly operation: BatchedOperation;
  /** Grows with each that comes. */
  readonly place: number;
  resolve(reply: LedgerReply): void;
  reject(error: unknown): void;
}

/** Operations on one account, in their order. */
export interface AccountGroup {
  readonly account: string;
  readonly waiting: readonly Waiting[];
}

/** Operations by account, in the order in which they came. Accounts take turns. */
export class WaitingOperations {
  readonly #accounts = new Map<string, Waiting[]>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  countOf(account: string): number {
    return this.#accounts.get(account)?.length ?? 0;
  }

  add(waiting: Waiting): void {
    const { account } = waiting.operation;
    this.#count++;
    const others = this.#accounts.get(account);
    if (others) others.push(waiting);
    else this.#accounts.set(account, [waiting]);
  }

  /** Before all others of the account. */
  putBack({ account, waiting }: AccountGroup): void {
    this.#count += waiting.length;
    this.#accounts.set(account, [...waiting, ...(this.#accounts.get(account) ?? [])]);
  }

  /** The next operations, at most so many. No account gets more than its share while others have some left. */
  take(most: number): AccountGroup[] {
    if (this.#count <= most) return this.#takeAll();
    const share = Math.max(1, Math.floor(most / this.#accounts.size));
    const groups = new Map<string, Waiting[]>();
    let room = most;
    // An account that is added again while this runs has its turn again.
    for (const [account, waiting] of this.#accounts) {
      if (room === 0) break;
      const count = Math.min(share, room);
      this.#accounts.delete(account);
      const taken = waiting.length <= count ? waiting : waiting.splice(0, count);
      if (taken !== waiting) this.#accounts.set(account, waiting);
      room -= taken.length;
      const earlier = groups.get(account);
      if (earlier) earlier.push(...taken);
      else groups.set(account, taken);
    }
    this.#count -= most - room;
    return Array.from(groups, ([account, waiting]) => ({ account, waiting }));
  }

  #takeAll(): AccountGroup[] {
    const groups: AccountGroup[] = [];
    for (const [account, waiting] of this.#accounts) groups.push({ account, waiting });
    this.#accounts.clear();
    this.#count = 0;
    return groups;
  }

  /** Those that had come up to a place. */
  takeUpTo(place: number): Waiting[] {
    const taken: Waiting[] = [];
    for (const [account, waiting] of this.#accounts) {
      const later = waiting.findIndex((one) => one.place > place);
      taken.push(...waiting.splice(0, later === -1 ? waiting.length : later));
      if (waiting.length === 0) this.#accounts.delete(account);
    }
    this.#count -= taken.length;
    return taken;
  }
}
