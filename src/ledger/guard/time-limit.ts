import { letProcessEnd } from "../../runtime/let-process-end.js";
import { isIsolate } from "../../runtime/runtime.js";
import { type Indexed, IndexedSet } from "../indexed-set.js";

/** What waits for the other side. */
export interface Wait extends Indexed {
  /** Written by the {@link TimeLimit} only. */
  firstTick: number;
  /** Called when that takes too long. */
  expire(error: TimeLimitError): void;
  /** Called after a quarter and after half of that time. */
  again?(): void;
}

const leastTicks = 10;
/**
 * How long the timer runs on after the last wait, in milliseconds. It keeps the process alive for that time, unless it
 * is closed.
 */
const longestTickMs = 200;

/** The other side took too long. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/**
 * Bounds how long callers wait for promises of others. All waits share one timer, which runs only while there are some.
 * It counts its ticks instead of comparing times: a response that a blocked event loop has not read yet is not late.
 *
 * In an isolate each wait has a timer of its own, since a timer ends with the request that has set it.
 */
export class TimeLimit {
  readonly ms: number;
  readonly #ticks: number;
  readonly #mostTicks: number;
  readonly #againTicks: number;
  readonly #waits = new IndexedSet<Wait>();
  /** `undefined`: they share one. */
  readonly #timers: Map<Wait, ReturnType<typeof setInterval>> | undefined;
  #tick = 0;
  /** The tick of the last {@link TimeLimit.extend}. */
  #extendedTick = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  /**
   * @param ms - the shortest limit; a wait ends at most about a tenth later.
   * @param mostMs - the longest limit, when responses keep arriving: see {@link TimeLimit.extend}.
   * @param isolate - whether each wait has a timer of its own. Then the shortest limit holds.
   */
  constructor(ms: number, mostMs = ms, isolate = isIsolate) {
    this.#timers = isolate ? new Map() : undefined;
    this.ms = ms;
    this.#ticks = Math.max(leastTicks, Math.ceil(ms / longestTickMs));
    this.#mostTicks = Math.ceil((mostMs * this.#ticks) / ms);
    // The first tick may come at once.
    this.#againTicks = Math.floor(this.#ticks / 4) + 1;
  }

  /** The other side has sent another response, so waits may last longer. */
  extend(): void {
    this.#extendedTick = this.#tick;
  }

  /** Bounds a wait from now on. */
  begin(wait: Wait): void {
    wait.firstTick = this.#tick;
    this.#waits.add(wait);
    if (this.#timers === undefined) this.#timer ??= this.#start();
    else this.#timers.set(wait, this.#startFor(wait));
  }

  /** @returns whether it has ended in time. */
  end(wait: Wait): boolean {
    const isInTime = this.#waits.has(wait);
    this.#waits.remove(wait);
    this.#stopTimerOf(wait);
    return isInTime;
  }

  /** Calls one of the two: the second with a {@link TimeLimitError} when the promise takes too long. */
  watch<Answer>(answer: PromiseLike<Answer>, succeed: (value: Answer) => void, fail: (error: unknown) => void): void {
    const wait: Wait = { firstTick: 0, expire: fail, place: -1 };
    this.begin(wait);
    answer.then(
      (value) => {
        if (this.end(wait)) succeed(value);
      },
      (error: unknown) => {
        if (this.end(wait)) fail(error);
      },
    );
  }

  /**
   * Settles as the promise does.
   * @throws TimeLimitError when that takes too long. A later result is ignored.
   */
  race<Answer>(answer: PromiseLike<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => this.watch(answer, resolve, reject));
  }

  /** From now on, waits do not keep the process alive. They still end in time. */
  close(): void {
    this.#isClosed = true;
    if (this.#waits.size === 0) this.#stop();
    for (const timer of [this.#timer, ...(this.#timers?.values() ?? [])]) letProcessEnd(timer);
  }

  #start(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => this.#expire(), this.ms / this.#ticks);
    if (this.#isClosed) letProcessEnd(timer);
    return timer;
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #expire(): void {
    this.#tick++;
    for (const wait of this.#waits.list()) {
      const silentSince = Math.max(wait.firstTick, this.#extendedTick);
      const waited = this.#tick - wait.firstTick;
      if (this.#tick - silentSince <= this.#ticks && waited <= this.#mostTicks) {
        if (waited === this.#againTicks || waited === 2 * this.#againTicks) wait.again?.();
        continue;
      }
      this.#giveUp(wait);
    }
    if (this.#waits.size === 0) this.#stop();
  }

  /** In an isolate. */
  #startFor(wait: Wait): ReturnType<typeof setInterval> {
    let quarters = 0;
    const timer = setInterval(() => {
      quarters++;
      if (quarters === 4) this.#giveUp(wait);
      else if (quarters < 3) wait.again?.();
    }, this.ms / 4);
    if (this.#isClosed) letProcessEnd(timer);
    return timer;
  }

  #giveUp(wait: Wait): void {
    this.#waits.remove(wait);
    this.#stopTimerOf(wait);
    wait.expire(new TimeLimitError(`There was no response in time (${this.ms} ms).`));
  }

  #stopTimerOf(wait: Wait): void {
    if (this.#timers === undefined) return;
    clearInterval(this.#timers.get(wait));
    this.#timers.delete(wait);
  }
}

/**
 * Waits for a read within a time limit. A connection may have died without a word, and what is sent on it waits in vain: so a
 * read that has no response after a quarter of the limit is sent once more, and again after half of it. The first response
 * counts.
 *
 * @param sent - the read that is under way.
 * @param read - sends it again. It changes nothing.
 * @throws what the read throws, when no other one is under way; TimeLimitError when none has a response in time.
 */
export function repeatedRead<Found>(
  sent: PromiseLike<Found>,
  read: () => PromiseLike<Found> | Found,
  limit: TimeLimit,
): Promise<Found> {
  return new Promise((resolve, reject) => {
    const reading = new Reading(read, limit, { resolve, reject });
    limit.begin(reading);
    reading.follow(sent);
  });
}

class Reading<Found> implements Wait {
  firstTick = 0;
  place = -1;
  readonly #read: () => PromiseLike<Found> | Found;
  readonly #limit: TimeLimit;
  readonly #caller: { resolve(found: Found): void; reject(error: unknown): void };
  #underWay = 0;

  constructor(
    read: () => PromiseLike<Found> | Found,
    limit: TimeLimit,
    caller: { resolve(found: Found): void; reject(error: unknown): void },
  ) {
    this.#read = read;
    this.#limit = limit;
    this.#caller = caller;
  }

  again(): void {
    this.follow(startRead(this.#read));
  }

  follow(sent: PromiseLike<Found>): void {
    this.#underWay++;
    sent.then(
      (found) => {
        if (this.#limit.end(this)) this.#caller.resolve(found);
      },
      (error: unknown) => {
        this.#underWay--;
        if (this.#underWay === 0 && this.#limit.end(this)) this.#caller.reject(error);
      },
    );
  }

  expire(error: TimeLimitError): void {
    this.#caller.reject(error);
  }
}

/** A host's own store may throw, or return its result without a promise. */
async function startRead<Found>(read: () => PromiseLike<Found> | Found): Promise<Found> {
  return read();
}
