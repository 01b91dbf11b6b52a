import { TimeLimit } from "../ledger/guard/time-limit.js";
import type { ClientCall } from "../providers/direct-call.js";
import { BackgroundWork } from "../runtime/background-work.js";
import type { ResponseCacheStore } from "./response-cache-store.js";

/** A call waits no longer for what may be kept. */
const longestLookMs = 100;

/** Nothing that is put takes longer. */
const longestPutMs = 5_000;

/** After a failure, the store is left alone for so long, so that calls do not wait for it one after the other. */
const restMs = 1_000;

/** So many bytes may be on their way to the store. What would be more is not kept. */
const mostPuttingBytes = 16 * 1024 * 1024;

type Services = ClientCall["services"];

/** A store of kept responses: where it fails or takes too long, calls go on without it. */
export class WatchedStore {
  readonly #store: ResponseCacheStore;
  readonly #lookLimit = new TimeLimit(longestLookMs);
  readonly #putLimit = new TimeLimit(longestPutMs);
  readonly #puts = new BackgroundWork();
  #puttingBytes = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(store: ResponseCacheStore) {
    this.#store = store;
  }

  /** Never fails: what cannot be read is not there. */
  async get(account: string, key: string, services: Services): Promise<Uint8Array | undefined> {
    if (this.#isResting(services)) return undefined;
    try {
      const found: unknown = await this.#lookLimit.race(ask(() => this.#store.get(account, key)));
      if (found === undefined || found instanceof Uint8Array) return found;
      throw new TypeError("It found what is no Uint8Array.");
    } catch (cause) {
      this.#failed("find a response", cause, services);
      return undefined;
    }
  }

  /** Never fails. */
  put(account: string, key: string, value: Uint8Array, { ttlMs, services }: PutTerms): Promise<void> {
    if (this.#isResting(services) || this.#puttingBytes + value.length > mostPuttingBytes) return Promise.resolve();
    this.#puttingBytes += value.length;
    const putting = this.#putLimit.race(ask(() => this.#store.put(account, key, value, ttlMs)));
    const done = putting
      .catch((cause) => this.#failed("keep a response", cause, services))
      .then(() => {
        this.#puttingBytes -= value.length;
      });
    this.#puts.add(done, account);
    return done;
  }

  /** @throws what the store throws. */
  async forget(account: string): Promise<void> {
    await this.#puts.of(account);
    await this.#store.forget(account);
  }

  /** Resolves when nothing is being put any more. From then on, nothing of it keeps the process alive. */
  async close(): Promise<void> {
    await this.#puts.idle();
    this.#lookLimit.close();
    this.#putLimit.close();
  }

  #isResting({ clock }: Services): boolean {
    return Math.abs(clock.now() - this.#failedAt) < restMs;
  }

  #failed(what: string, cause: unknown, services: Services): void {
    // Calls that were under way fail together.
    if (this.#isResting(services)) return;
    this.#failedAt = services.clock.now();
    const message = `The store of the response cache failed to ${what}. Calls go on without it.`;
    services.warn({ code: "response_cache_failed", message, cause });
  }
}

/** How long a value may be kept, and who learns of failures. */
export interface PutTerms {
  readonly ttlMs: number;
  readonly services: Services;
}

async function ask<Found>(work: () => Found | Promise<Found>): Promise<Found> {
  return await work();
}
