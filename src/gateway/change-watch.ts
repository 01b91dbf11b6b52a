import type { Warn } from "../events/warning.js";
import { isError } from "../runtime/host-code.js";
import { letProcessEnd } from "../runtime/let-process-end.js";

type End = () => Promise<void>;

export interface ChangeWatchOptions {
  /** `undefined` when the store sends no notices of changes. */
  subscribe: ((onChange: (name: string) => void) => Promise<End> | End) | undefined;
  onChange: (name: string) => void;
  /** Called when notices begin to arrive. */
  onListening?: (() => void) | undefined;
  /** The kind of store, for the warning. */
  what: "key" | "plan" | "account" | "budget" | "model" | "ledger";
  warn: Warn;
  /** In an isolate, a subscription would end with the request that has begun it: there is none. */
  isolate?: boolean | undefined;
}

const messages = {
  key:
    "The key store cannot be subscribed to, which is tried again: until then, keys that other processes change are " +
    "changed here when the cache forgets them (`cacheTtlMs`).",
  plan:
    "The plan store cannot be subscribed to, which is tried again: until then, plans that other processes change are " +
    "changed here when the cache forgets them (`cacheTtlMs`).",
  account:
    "The account store cannot be subscribed to, which is tried again: until then, accounts that other processes change " +
    "are changed here when the cache forgets them (`cacheTtlMs`).",
  budget:
    "The budget store cannot be subscribed to, which is tried again: until then, budgets that other processes change are " +
    "changed here when the cache forgets them (`cacheTtlMs`).",
  model:
    "The model store cannot be subscribed to, which is tried again: until then, models that other processes change are " +
    "changed here when they are read again (`cacheTtlMs`).",
  ledger:
    "The ledger cannot be subscribed to, which is tried again: until then, what other processes grant takes effect here " +
    "when denials are forgotten (`denialCacheMs`).",
};

/**
 * The advice in an error that has some. Other errors may contain secrets of the host, so the warning has them as its
 * cause only.
 */
function adviceOf(cause: unknown): string {
  return isError(cause) && cause.name === "NoChangeFeedError" ? ` ${cause.message}` : "";
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** The longest wait for the subscription, in milliseconds. After it, records are cached all the same. */
const longestPendingMs = 5_000;

/** Subscribes to the changes that other processes make in a store, from the first lookup until the gateway closes. */
export class ChangeWatch {
  readonly #options: ChangeWatchOptions;
  #state: "idle" | "pending" | "settled" | "closed" = "idle";
  #end: End | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(options: ChangeWatchOptions) {
    this.#options = options;
  }

  /**
   * Whether a record that the store returns from now on may be cached. Before the subscription is established, no
   * notice of a change would arrive. Without a subscription, a record is cached for its usual time.
   */
  readonly mayRemember = (): boolean => {
    if (this.#state === "idle") this.#start();
    return this.#state !== "pending";
  };

  async close(): Promise<void> {
    this.#state = "closed";
    clearTimeout(this.#timer);
    await this.#unsubscribe();
  }

  #start(): void {
    this.#state = "settled";
    if (this.#options.subscribe === undefined || this.#options.isolate) return;
    this.#state = "pending";
    this.#after(longestPendingMs, () => this.#settle());
    this.#subscribe();
  }

  #settle(): void {
    if (this.#state === "pending") this.#state = "settled";
  }

  #subscribe(): void {
    const { subscribe, onChange } = this.#options;
    try {
      const end = subscribe?.(onChange);
      if (end === undefined || typeof end === "function") this.#listening(end);
      else end.then(this.#listening, this.#failed);
    } catch (cause) {
      this.#failed(cause);
    }
  }

  readonly #listening = (end: End | undefined): void => {
    this.#end = end;
    if (this.#state === "closed") void this.#unsubscribe();
    else clearTimeout(this.#timer);
    this.#settle();
    if (this.#state !== "closed") this.#options.onListening?.();
  };

  readonly #failed = (cause: unknown): void => {
    if (this.#state === "closed") return;
    this.#settle();
    const { what, warn } = this.#options;
    if (this.#failures === 0) warn({ code: "change_feed_failed", message: messages[what] + adviceOf(cause), cause });
    this.#after(Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs), () => this.#subscribe());
  };

  async #unsubscribe(): Promise<void> {
    const end = this.#end;
    this.#end = undefined;
    try {
      await end?.();
    } catch {
      // A subscription that cannot be ended needs no more work.
    }
  }

  #after(milliseconds: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, milliseconds);
    letProcessEnd(this.#timer);
  }
}
