import type { ResponseCacheStore } from "../../cache/response-cache-store.js";
import type { AnswerCache } from "../../call/cached/answer-cache.js";
import type { Warn } from "../../events/warning.js";
import { TimeLimit } from "../../guard/time-limit.js";
import type { Clock } from "../../ledger/clock.js";
import { PutsInFlight } from "./puts-in-flight.js";

/** A call waits no longer for what may be kept. */
const longestLookMs = 100;

/** After a failure, the store is left alone for so long, so that calls do not wait for it one after the other. */
const restMs = 1_000;

/** So many bytes may be on their way to the store. What would be more is not kept. */
const mostPuttingBytes = 16 * 1024 * 1024;

export interface WatchedResponseCacheServices {
  /** Of all but looking for a response. */
  readonly timeLimit: TimeLimit;
  readonly clock: Clock;
  readonly warn: Warn;
  /** Default: as for a {@link TimeLimit}. */
  readonly isolate?: boolean | undefined;
}

/** The host's store of kept responses: where it fails or takes too long, calls go on without it. */
export class WatchedResponseCache implements AnswerCache {
  readonly #store: ResponseCacheStore;
  readonly #services: WatchedResponseCacheServices;
  readonly #lookLimit: TimeLimit;
  readonly #puts = new PutsInFlight();
  #puttingBytes = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(store: ResponseCacheStore, services: WatchedResponseCacheServices) {
    this.#store = store;
    this.#services = services;
    this.#lookLimit = new TimeLimit(longestLookMs, longestLookMs, services.isolate);
  }

  async get(account: string, key: string): Promise<Uint8Array | undefined> {
    if (this.#isResting) return undefined;
    try {
      const found: unknown = await this.#lookLimit.race(this.#ask(() => this.#store.get(account, key)));
      if (found === undefined || found instanceof Uint8Array) return found;
      throw new TypeError("It found what is no Uint8Array.");
    } catch (cause) {
      this.#failed("find a response", cause);
      return undefined;
    }
  }

  put(account: string, key: string, value: Uint8Array, ttlMs: number): void {
    if (this.#isResting || this.#puttingBytes + value.length > mostPuttingBytes) return;
    this.#puttingBytes += value.length;
    const putting = this.#services.timeLimit.race(this.#ask(() => this.#store.put(account, key, value, ttlMs)));
    const done = putting
      .catch((cause) => this.#failed("keep a response", cause))
      .then(() => {
        this.#puttingBytes -= value.length;
      });
    this.#puts.add(account, done);
  }

  /** @throws what the store throws, or a TimeLimitError. */
  async forget(account: string): Promise<void> {
    await this.#puts.forget(account);
    await this.#services.timeLimit.race(this.#ask(() => this.#store.forget(account)));
  }

  /** Resolves when nothing is being put any more. */
  settled(): Promise<void> {
    return this.#puts.settled();
  }

  async close(): Promise<void> {
    await this.settled();
    this.#lookLimit.close();
  }

  async #ask<Found>(work: () => Found | Promise<Found>): Promise<Found> {
    return await work();
  }

  get #isResting(): boolean {
    return Math.abs(this.#services.clock.now() - this.#failedAt) < restMs;
  }

  #failed(what: string, cause: unknown): void {
    // Calls that were under way fail together.
    if (this.#isResting) return;
    this.#failedAt = this.#services.clock.now();
    const message = `The store of the response cache failed to ${what}. Calls go on without it.`;
    this.#services.warn({ code: "response_cache_failed", message, cause });
  }
}
