/** When a target is left alone for a while, and how it comes back. */
export interface BreakerOptions {
  /** So many failures in a row open it. Default: 5. */
  consecutiveFailures?: number | undefined;
  /** So large a part of the calls of the last `windowMs` having failed opens it: above 0, at most 1. Default: 0.5. */
  failureRate?: number | undefined;
  /** The fewest calls within `windowMs` for `failureRate` to count. Default: 20. */
  minimumCalls?: number | undefined;
  /** The time over which calls are counted, in milliseconds. Default: 30,000. */
  windowMs?: number | undefined;
  /** How long it stays open before one call is let through to try, in milliseconds; twice as long after each such call that fails, up to a minute. Default: 5,000. */
  openMs?: number | undefined;
}

const slices = 10;
const longestOpenMs = 60_000;

/**
 * `closed`: calls pass. `open`: none does. `half_open`: one call has been, or may be, let through to see whether the
 * target works again.
 */
export type BreakerState = "closed" | "open" | "half_open";

/** Counts a target's failures, and keeps calls away from it when there are too many. Makes no timer and no object per call. */
export class Breaker {
  readonly #consecutiveLimit: number;
  readonly #rateLimit: number;
  readonly #minimumCalls: number;
  readonly #sliceMs: number;
  readonly #firstOpenMs: number;
  readonly #calls = new Int32Array(slices);
  readonly #failures = new Int32Array(slices);
  #slice = 0;
  #sliceStart = Number.NEGATIVE_INFINITY;
  #consecutive = 0;
  #openUntil: number | undefined;
  #openMs: number;
  #probing = false;

  constructor(options: BreakerOptions = {}) {
    this.#consecutiveLimit = options.consecutiveFailures ?? 5;
    this.#rateLimit = options.failureRate ?? 0.5;
    this.#minimumCalls = options.minimumCalls ?? 20;
    this.#sliceMs = (options.windowMs ?? 30_000) / slices;
    this.#firstOpenMs = options.openMs ?? 5_000;
    this.#openMs = this.#firstOpenMs;
  }

  state(now: number): BreakerState {
    if (this.#openUntil === undefined) return "closed";
    return this.#probing || now >= this.#openUntil ? "half_open" : "open";
  }

  /** From when on a call may be tried, in epoch milliseconds: in the past when one may now, `Infinity` while one is on trial. */
  get availableAt(): number {
    if (this.#openUntil === undefined) return 0;
    return this.#probing ? Number.POSITIVE_INFINITY : this.#openUntil;
  }

  get consecutiveFailures(): number {
    return this.#consecutive;
  }

  /** The part of the last calls that failed, 0 to 1. */
  failureRate(now: number): number {
    this.#turn(now);
    const calls = sum(this.#calls);
    return calls === 0 ? 0 : sum(this.#failures) / calls;
  }

  /** A call begins. @returns whether it is the one that tries an open breaker. */
  enter(): boolean {
    if (this.#openUntil === undefined) return false;
    this.#probing = true;
    return true;
  }

  /** The call on trial was answered: all is well again. */
  close(): void {
    this.#openUntil = undefined;
    this.#openMs = this.#firstOpenMs;
    this.#probing = false;
    this.#consecutive = 0;
    this.#calls.fill(0);
    this.#failures.fill(0);
  }

  /** The call on trial ended without telling anything about the target, as when its client left. */
  withdraw(): void {
    this.#probing = false;
  }

  succeeded(now: number): void {
    this.#turn(now);
    this.#calls[this.#slice] = (this.#calls[this.#slice] ?? 0) + 1;
    this.#consecutive = 0;
  }

  /** @param wasProbe - it was the call on trial. */
  failed(now: number, wasProbe: boolean): void {
    this.#turn(now);
    this.#calls[this.#slice] = (this.#calls[this.#slice] ?? 0) + 1;
    this.#failures[this.#slice] = (this.#failures[this.#slice] ?? 0) + 1;
    this.#consecutive++;
    if (wasProbe) {
      this.#probing = false;
      this.#openMs = Math.min(this.#openMs * 2, Math.max(longestOpenMs, this.#firstOpenMs));
      this.#openUntil = now + this.#openMs;
    } else if (this.#openUntil === undefined && this.#isTooMuch()) {
      this.#openUntil = now + this.#openMs;
    }
  }

  #isTooMuch(): boolean {
    if (this.#consecutive >= this.#consecutiveLimit) return true;
    const calls = sum(this.#calls);
    return calls >= this.#minimumCalls && sum(this.#failures) >= calls * this.#rateLimit;
  }

  /** Forgets the slices of time that have gone by. */
  #turn(now: number): void {
    const gone = Math.floor((now - this.#sliceStart) / this.#sliceMs);
    // A clock that was set back begins anew.
    if (gone >= slices || gone < 0 || Number.isNaN(gone)) {
      this.#calls.fill(0);
      this.#failures.fill(0);
      this.#slice = 0;
      this.#sliceStart = now;
      return;
    }
    for (let step = 0; step < gone; step++) {
      this.#slice = (this.#slice + 1) % slices;
      this.#calls[this.#slice] = 0;
      this.#failures[this.#slice] = 0;
    }
    this.#sliceStart += gone * this.#sliceMs;
  }
}

function sum(counts: Int32Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
