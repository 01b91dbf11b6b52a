import type { RecordKind } from "../records/record-store.js";
import type { OpenSubscription, Subscription } from "./subscription.js";

type Listener = (message: string) => void;

/** What changed; `account` is its credits. */
type FeedKind = RecordKind | "account";

const retryMs = 1_000;

/**
 * Notifies of changes to keys, plans, accounts and other records by any process, over one connection that is open while there are
 * listeners. A lost connection is opened again; no notice arrives of a change meanwhile.
 */
export class ChangeFeed {
  readonly channel: string;
  readonly #open: OpenSubscription | undefined;
  readonly #listeners = new Set<Listener>();
  #subscription: Promise<Subscription> | undefined;

  constructor(channel: string, open: OpenSubscription | undefined) {
    this.channel = channel;
    this.#open = open;
  }

  get canSubscribe(): boolean {
    return this.#open !== undefined;
  }

  /** Rejects when it cannot be connected now. */
  async subscribe(kind: FeedKind, onChange: (name: string) => void): Promise<() => Promise<void>> {
    const prefix = `${kind} `;
    const listener: Listener = (message) => {
      if (message.startsWith(prefix)) onChange(message.slice(prefix.length));
    };
    this.#listeners.add(listener);
    const end = async () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#close();
    };
    try {
      await this.#connect();
    } catch (error) {
      await end();
      throw error;
    }
    return end;
  }

  async #connect(): Promise<void> {
    if (this.#open === undefined) throw new Error("The client cannot subscribe.");
    this.#subscription ??= this.#open(
      (message) => this.#tell(message),
      () => this.#reopen(subscription),
    );
    const subscription = this.#subscription;
    try {
      await subscription;
    } catch (error) {
      if (this.#subscription === subscription) this.#subscription = undefined;
      throw error;
    }
  }

  #tell(message: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(message);
      } catch {
        // One listener's error must not keep the others from the notice.
      }
    }
  }

  #reopen(lost: Promise<Subscription>): void {
    if (this.#subscription !== lost) return;
    this.#subscription = undefined;
    this.#retry();
  }

  #retry(): void {
    if (this.#listeners.size === 0) return;
    const timer = setTimeout(() => {
      // They may have left meanwhile.
      if (this.#listeners.size > 0) this.#connect().catch(() => this.#retry());
    }, retryMs);
    timer.unref?.();
  }

  /** Does not wait for a connection that is being opened: a server that hangs makes that last for ever. */
  #close(): void {
    // One that could not be opened need not be ended.
    this.#subscription?.then(({ end }) => end()).catch(() => {});
    this.#subscription = undefined;
  }
}
