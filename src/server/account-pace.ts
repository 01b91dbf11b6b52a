import { LRUCache } from "lru-cache";
import type { Clock } from "../ledger/clock.js";

/** How often each account may do something: `burst` times at once, and `perSecond` times a second for long. */
export interface Pace {
  readonly burst: number;
  readonly perSecond: number;
}

interface Bucket {
  tokens: number;
  /** When the tokens were counted, in epoch milliseconds. */
  countedAt: number;
}

/** Accounts beyond so many are forgotten, the one that was idle longest first. */
const mostAccounts = 10_000;

/** A token bucket for each account, in this process. */
export class AccountPace {
  readonly #pace: Pace;
  readonly #clock: Clock;
  readonly #buckets = new LRUCache<string, Bucket>({ max: mostAccounts });

  constructor(pace: Pace, clock: Clock) {
    this.#pace = pace;
    this.#clock = clock;
  }

  /** @returns 0 where the account may go on, else after how many milliseconds it may. */
  take(account: string): number {
    const { burst, perSecond } = this.#pace;
    const now = this.#clock.now();
    const { tokens, countedAt } = this.#buckets.get(account) ?? { tokens: burst, countedAt: now };
    const refilled = Math.min(burst, tokens + (Math.max(0, now - countedAt) * perSecond) / 1000);
    const isAllowed = refilled >= 1;
    this.#buckets.set(account, { tokens: refilled - (isAllowed ? 1 : 0), countedAt: now });
    return isAllowed ? 0 : Math.ceil(((1 - refilled) * 1000) / perSecond);
  }
}
