/** When the gateway stops calling a failing target, and when it tries it again. */
export interface BreakerOptions {
  /** This many failures in a row open the breaker. Default: 5. */
  consecutiveFailures?: number | undefined;
  /**
   * The part of the calls in the last `windowMs` that must fail to open the breaker: above 0, at most 1. Default: 0.5.
   */
  failureRate?: number | undefined;
  /** The fewest calls within `windowMs` for `failureRate` to count. Default: 20. */
  minimumCalls?: number | undefined;
  /** The time over which calls are counted, in milliseconds. Default: 30,000. */
  windowMs?: number | undefined;
  /**
   * How long the breaker stays open before it lets one test call through, in milliseconds. The time doubles after each
   * failed test call that has waited for it, up to a minute. Where every target's breaker is open, nobody waits: the
   * longest open one is tried by the next call. Default: 5,000.
   */
  openMs?: number | undefined;
}

const slices = 10;
const longestOpenMs = 60_000;

/**
 * `closed`: calls pass. `open`: no call passes while another target takes it. `half_open`: one test call may pass, or is
 * in progress.
 */
export type BreakerState = "closed" | "open" | "half_open";

/**
 * Counts a target's failures and blocks calls to it when there are too many. It makes no timer and no object per call.
 */
export class Breaker {
  readonly options: BreakerOptions;
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
  /** Whether the test call waited for its time. */
  #isDue = false;
  /** When it opened or was last tried. */
  #openSince = Number.NEGATIVE_INFINITY;

  constructor(options: BreakerOptions = {}) {
    this.options = options;
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

  /**
   * The time from which a call may be tried, in epoch milliseconds. It is in the past when one may be tried now, and
   * `Infinity` during a test call.
   */
  get availableAt(): number {
    if (this.#openUntil === undefined) return 0;
    return this.#probing ? Number.POSITIVE_INFINITY : this.#openUntil;
  }

  /**
   * Since when the breaker waits, in epoch milliseconds, while it is open and no test call is in progress: one may be made
   * before its time where nothing else can be called. Else `undefined`.
   */
  get waitsSince(): number | undefined {
    return this.#openUntil === undefined || this.#probing ? undefined : this.#openSince;
  }

  /** Whether a test call is in progress. */
  get isTried(): boolean {
    return this.#probing;
  }

  get consecutiveFailures(): number {
    return this.#consecutive;
  }

  /** The part of the latest calls that failed, 0 to 1. */
  failureRate(now: number): number {
    this.#turn(now);
    const calls = sum(this.#calls);
    return calls === 0 ? 0 : sum(this.#failures) / calls;
  }

  /** A call begins. @returns whether it is a test call. */
  enter(now: number): boolean {
    if (this.#openUntil === undefined) return false;
    this.#probing = true;
    this.#isDue = now >= this.#openUntil;
    return true;
  }

  /** The test call succeeded: the breaker closes. */
  close(): void {
    this.#openUntil = undefined;
    this.#openMs = this.#firstOpenMs;
    this.#probing = false;
    this.#consecutive = 0;
    this.#calls.fill(0);
    this.#failures.fill(0);
  }

  /** The test call ended without a result for the target, for example because its client left. */
  withdraw(): void {
    this.#probing = false;
  }

  succeeded(now: number): void {
    this.#turn(now);
    this.#calls[this.#slice] = (this.#calls[this.#slice] ?? 0) + 1;
    this.#consecutive = 0;
  }

  /** @param wasProbe - it was the test call. */
  failed(now: number, wasProbe: boolean): void {
    this.#turn(now);
    this.#calls[this.#slice] = (this.#calls[this.#slice] ?? 0) + 1;
    this.#failures[this.#slice] = (this.#failures[this.#slice] ?? 0) + 1;
    this.#consecutive++;
    if (wasProbe) {
      this.#probing = false;
      if (this.#isDue) this.#openMs = Math.min(this.#openMs * 2, Math.max(longestOpenMs, this.#firstOpenMs));
      this.#open(now);
    } else if (this.#openUntil === undefined && this.#isTooMuch()) {
      this.#open(now);
    }
  }

  #open(now: number): void {
    this.#openUntil = now + this.#openMs;
    this.#openSince = now;
  }

  #isTooMuch(): boolean {
    if (this.#consecutive >= this.#consecutiveLimit) return true;
    const calls = sum(this.#calls);
    return calls >= this.#minimumCalls && sum(this.#failures) >= calls * this.#rateLimit;
  }

  /** Clears the slices of the window that have passed. */
  #turn(now: number): void {
    const gone = Math.floor((now - this.#sliceStart) / this.#sliceMs);
    // After the clock was set back, counting starts again.
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
