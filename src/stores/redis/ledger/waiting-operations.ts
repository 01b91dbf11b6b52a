import type { LedgerReply } from "./ledger-reply.js";
import type { LedgerKeys } from "./recent-accounts.js";

/** What the script needs to know of an operation. */
export interface BatchedOperation {
  readonly account: string;
  readonly keys: LedgerKeys;
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
  /** What its caller gets of the reply, and what refuses it. */
  read(reply: LedgerReply): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Operations on one account, in their order. */
export interface AccountGroup {
  readonly account: string;
  readonly waiting: readonly Waiting[];
}

/** Operations on one account, in their order, without their callers. */
export interface OperationGroup {
  readonly account: string;
  readonly waiting: readonly Pick<Waiting, "operation">[];
}

/** How many operations wait, in all queues of a ledger. */
export interface WaitingTotal {
  count: number;
}

/** Operations by account, in the order in which they came. Accounts take turns. */
export class WaitingOperations {
  /**
   * It is replaced once as many accounts have left as there are. When a map makes itself a new table, V8 links the old one
   * to it, and what was in any of them stays in memory until the whole heap is collected.
   */
  #accounts = new Map<string, Waiting[]>();
  /** How many accounts have left since then. */
  #left = 0;
  readonly #total: WaitingTotal;
  #count = 0;

  /** @param total - counts these, too. */
  constructor(total: WaitingTotal) {
    this.#total = total;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  get count(): number {
    return this.#count;
  }

  countOf(account: string): number {
    return this.#accounts.get(account)?.length ?? 0;
  }

  add(waiting: Waiting): void {
    const { account } = waiting.operation;
    this.#addToCount(1);
    const others = this.#accounts.get(account);
    if (others) others.push(waiting);
    else this.#accounts.set(account, [waiting]);
  }

  /** Before all others of the account. */
  putBack({ account, waiting }: AccountGroup): void {
    this.#addToCount(waiting.length);
    this.#accounts.set(account, [...waiting, ...(this.#accounts.get(account) ?? [])]);
  }

  /**
   * The next operations of at most so many accounts, and as many more of these: to load and write an account takes the
   * script as long as an operation does. No account gets more than its share while others have some left.
   */
  take(most: number): AccountGroup[] {
    let room = 2 * most;
    if (this.#count + this.#accounts.size <= room) return this.#takeAll();
    const share = Math.max(2, Math.floor(room / this.#accounts.size));
    const groups = new Map<string, Waiting[]>();
    // An account that is added again while this runs has its turn again.
    for (const [account, waiting] of this.#accounts) {
      const earlier = groups.get(account);
      const ofAccount = earlier ? 0 : 1;
      const count = Math.min(share, room) - ofAccount;
      if (count < 1) break;
      this.#accounts.delete(account);
      this.#left++;
      const taken = waiting.length <= count ? waiting : waiting.splice(0, count);
      if (taken !== waiting) this.#accounts.set(account, waiting);
      room -= taken.length + ofAccount;
      this.#addToCount(-taken.length);
      if (earlier) earlier.push(...taken);
      else groups.set(account, taken);
    }
    this.#renew();
    return Array.from(groups, ([account, waiting]) => ({ account, waiting }));
  }

  #takeAll(): AccountGroup[] {
    const groups: AccountGroup[] = [];
    for (const [account, waiting] of this.#accounts) groups.push({ account, waiting });
    this.#accounts = new Map();
    this.#left = 0;
    this.#addToCount(-this.#count);
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
    this.#addToCount(-taken.length);
    return taken;
  }

  #renew(): void {
    if (this.#left < this.#accounts.size) return;
    this.#accounts = new Map(this.#accounts);
    this.#left = 0;
  }

  #addToCount(change: number): void {
    this.#count += change;
    this.#total.count += change;
  }
}
