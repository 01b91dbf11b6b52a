import { LRUCache } from "lru-cache";
import type { Warn } from "../events/warning.js";
import type { TimeLimit } from "../ledger/guard/time-limit.js";
import type { KeyUse } from "../records/keys/key-store.js";
import { letProcessEnd } from "../runtime/let-process-end.js";

/** A key is written at most so often, in milliseconds. */
const pauseMs = 60_000;
/** Further keys that are used in one pause are not noted in it. */
const mostNoted = 100_000;
/** Of so many keys it is known that they were written in the last minute. */
const mostRecent = 10_000;
/** So many a store writes at once: one in this process works while all else waits. */
const mostAtOnce = 250;

/** Of a key store. */
type Touch = (uses: readonly KeyUse[]) => Promise<void> | void;

/** Asked each time. What remembers the time for a moment has a timer for that, which ends with its request in an isolate. */
const monotonic = { now: () => performance.now() };

export interface KeyUsesOptions {
  /** How long the store may take for one batch. */
  timeLimit: TimeLimit;
  warn: Warn;
  /** Whether uses are written by {@link KeyUses.flush} alone, apart from what others write: see `isIsolate`. */
  isolate?: boolean | undefined;
}

/**
 * Keeps in the key store when keys were used, apart from the requests that use them. A use waits for the next batch, which
 * comes a minute after the first of its uses. What waits when the process crashes is lost.
 */
export class KeyUses {
  readonly #touch: Touch;
  readonly #options: KeyUsesOptions;
  /** The first use of each key since the last batch. */
  #noted = new Map<string, number>();
  /** What {@link KeyUses.flush} has written, to whom a pause applies, too. `undefined`: nobody has called it. */
  #recent: LRUCache<string, true> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(touch: Touch, options: KeyUsesOptions) {
    this.#touch = touch;
    this.#options = options;
  }

  /** The key was used. Costs one look-up; once a minute, an entry. */
  note(id: string, now: number): void {
    if (this.#noted.has(id) || this.#isClosed || this.#recent?.has(id) === true) return;
    this.#put(id, Math.floor(now));
  }

  /** Writes what is noted, without the pause: for a host that ends with its responses. Never rejects. */
  async flush(): Promise<void> {
    this.#recent ??= new LRUCache({ max: mostRecent, ttl: pauseMs, perf: monotonic, ttlResolution: 0 });
    for (const id of this.#noted.keys()) this.#recent.set(id, true);
    if (this.#options.isolate === true) return this.#write();
    await this.#writing;
    if (this.#noted.size > 0) this.#writing ??= this.#writeOnce();
    await this.#writing;
  }

  /** Writes what waits, for as long as one batch may take. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const writeAll = async () => {
      await this.#writing;
      await this.#write();
    };
    await this.#options.timeLimit.race(writeAll()).catch(() => {});
  }

  #put(id: string, at: number): void {
    if (this.#noted.size >= mostNoted) return;
    this.#noted.set(id, at);
    if (this.#timer === undefined && !this.#isClosed && this.#options.isolate !== true) this.#start();
  }

  #start(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // A slow store has not finished the last ones.
      if (this.#writing !== undefined) return this.#start();
      this.#writing = this.#writeOnce();
    }, pauseMs);
    letProcessEnd(this.#timer);
  }

  #writeOnce(): Promise<void> {
    return this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Never rejects. What the store does not take waits for the next time. */
  async #write(): Promise<void> {
    const uses = Array.from(this.#noted, ([id, at]) => ({ id, at }));
    this.#noted = new Map();
    for (let start = 0; start < uses.length; start += mostAtOnce) {
      try {
        await this.#options.timeLimit.race(this.#send(uses.slice(start, start + mostAtOnce)));
        this.#hasFailed = false;
      } catch (cause) {
        return this.#keep(uses.slice(start), cause);
      }
    }
  }

  async #send(uses: readonly KeyUse[]): Promise<void> {
    await this.#touch(uses);
  }

  #keep(uses: readonly KeyUse[], cause: unknown): void {
    if (!this.#hasFailed) {
      const message = "The key store could not keep when keys were last used. It is tried again every minute.";
      this.#options.warn({ code: "key_store_failed", message, cause });
    }
    this.#hasFailed = true;
    for (const { id } of uses) this.#recent?.delete(id);
    // A later use of the same key may be noted by now.
    for (const { id, at } of uses) if (!this.#noted.has(id)) this.#put(id, at);
  }
}
