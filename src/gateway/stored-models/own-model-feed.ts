import { checkEntries } from "./check-entries.js";
import type { FollowedModels, ModelFeedOptions } from "./model-feed.js";

const pauseMs = 5_000;

/**
 * What a `ModelFeed` is, in an isolate: there each request that finds the entries too old reads them itself, and no timer
 * runs. No method rejects but {@link read}.
 */
export class OwnModelFeed implements FollowedModels {
  readonly #options: ModelFeedOptions;
  #freshUntil = Number.NEGATIVE_INFINITY;
  #hasFailed = false;

  constructor(options: ModelFeedOptions) {
    this.#options = options;
  }

  admit(): boolean {
    return performance.now() < this.#freshUntil;
  }

  async ready(): Promise<void> {
    await this.read().catch(() => {});
  }

  /** All of them are read: a single one costs as long. */
  async changed(): Promise<void> {
    await this.ready();
  }

  async read(): Promise<void> {
    const { store, limit, ttlMs, onEntries, onFailure } = this.#options;
    try {
      // A store of the host's may throw before it returns its promise.
      const list = async () => store.list();
      const entries = checkEntries(await limit.race(list()));
      onEntries([...entries.values()]);
      this.#hasFailed = false;
      this.#freshUntil = performance.now() + (ttlMs || 1_000);
    } catch (cause) {
      if (!this.#hasFailed) onFailure(cause);
      this.#hasFailed = true;
      // Requests go on with what is known, and do not wait for a store that is away.
      this.#freshUntil = performance.now() + pauseMs;
      throw cause;
    }
  }

  close(): void {
    this.#freshUntil = Number.POSITIVE_INFINITY;
  }
}
