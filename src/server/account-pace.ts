import { LRUCache } from "lru-cache";
import { GatewayError } from "../errors/gateway-error.js";
import type { Clock } from "../ledger/calendar.js";

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

  /**
   * @param what - what is so often done, as its client reads it: "Tokens are counted".
   * @throws GatewayError 429 for an account that does it too often.
   */
  require(account: string, what: string): void {
    const waitMs = this.take(account);
    if (waitMs === 0) return;
    const { burst, perSecond } = this.#pace;
    throw new GatewayError(
      `${what} ${perSecond} times a second, ${burst} at once. Send fewer requests, and try again shortly.`,
      {
        status: 429,
        code: "rate_limit_exceeded",
        type: "requests",
        headers: { "retry-after": String(Math.ceil(waitMs / 1000)) },
      },
    );
  }
}
