import { LRUCache } from "lru-cache";
import type { CachedAnswer } from "./cached-answer.js";

/** Of an account's answers: the least recently used is the first. */
interface Share {
  readonly keys: Set<string>;
  bytes: number;
}

interface Entry {
  readonly account: string;
  readonly answer: CachedAnswer;
}

/** An account may have one part in so many. */
const shares = 4;

/** Keeps responses in the memory of this process. Where it is full, what was not used for longest goes. */
export class AnswerCache {
  readonly #entries: LRUCache<string, Entry>;
  readonly #shares = new Map<string, Share>();
  readonly #mostOfAccount: number;

  constructor(maxBytes: number) {
    this.#mostOfAccount = Math.floor(maxBytes / shares);
    this.#entries = new LRUCache<string, Entry>({
      maxSize: maxBytes,
      sizeCalculation: ({ answer }) => answer.size,
      dispose: ({ account, answer }, key) => this.#dropped(account, key, answer.size),
    });
  }

  get(key: string): CachedAnswer | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const keys = this.#shares.get(entry.account)?.keys;
    keys?.delete(key);
    keys?.add(key);
    return entry.answer;
  }

  set(key: string, account: string, answer: CachedAnswer): void {
    if (answer.size > this.#mostOfAccount) return;
    this.#entries.delete(key);
    const share = this.#shareOf(account);
    for (const oldest of share.keys) {
      if (share.bytes + answer.size <= this.#mostOfAccount) break;
      this.#entries.delete(oldest);
    }
    this.#shares.set(account, share);
    share.keys.add(key);
    share.bytes += answer.size;
    this.#entries.set(key, { account, answer });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Forgets all answers to an account. */
  forget(account: string): void {
    for (const key of this.#shares.get(account)?.keys ?? []) this.#entries.delete(key);
  }

  #shareOf(account: string): Share {
    return this.#shares.get(account) ?? { keys: new Set(), bytes: 0 };
  }

  #dropped(account: string, key: string, size: number): void {
    const share = this.#shares.get(account);
    if (share === undefined || !share.keys.delete(key)) return;
    share.bytes -= size;
    if (share.keys.size === 0) this.#shares.delete(account);
  }
}
