import { openListener } from "./open-listener.js";
import type { PostgresClient, PostgresPool } from "./postgres-pool.js";

type Listener = (payload: string) => void;

const firstPauseMs = 100;
const longestPauseMs = 30_000;
/** Often enough that no gateway in between thinks the connection idle, and a dead one is found. */
const heartbeatMs = 30_000;

/**
 * Listens to any number of channels on one connection, which is opened with the first subscription, closed with the last,
 * and opened again when it breaks. It never keeps the process alive.
 */
export class Notifications {
  readonly #pool: PostgresPool;
  readonly #channels = new Map<string, Set<Listener>>();
  #client: PostgresClient | undefined;
  #connecting: Promise<void> | undefined;
  /** How many answers the connection is to wait for, and so keeps the process alive. */
  #asking = 0;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Whether the pool can listen. */
  get supported(): boolean {
    return this.#pool.listen !== undefined || this.#pool.connect !== undefined;
  }

  /** Resolves when it listens, or has failed to for the first time and tries again. @returns ends the subscription. */
  async subscribe(channel: string, onPayload: Listener): Promise<() => Promise<void>> {
    // A function of its own, so that the same one can subscribe twice.
    const listener: Listener = (payload) => {
      try {
        onPayload(payload);
      } catch {
        // Not the driver's affair, nor that of the other subscribers.
      }
    };
    if (this.#pool.listen) return this.#pool.listen(channel, listener);
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners.add(listener));
    if (this.#client) await this.#listen(this.#client, channel);
    else await this.#connect();
    return async () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#channels.delete(channel);
      if (this.#channels.size === 0) this.#stop();
    };
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    clearTimeout(this.#timer);
    let client: PostgresClient | undefined;
    try {
      client = await openListener(this.#pool);
    } catch {
      // Tried again below.
    }
    if (!client) return this.#retry();
    const opened = client;
    this.#client = opened;
    opened.on("error", () => this.#lose(opened));
    opened.on("end", () => this.#lose(opened));
    opened.on("notification", ({ channel, payload }) => {
      for (const listener of [...(this.#channels.get(channel) ?? [])]) listener(payload ?? "");
    });
    // Also those that come while this goes on.
    for (const channel of this.#channels.keys()) await this.#listen(opened, channel);
    if (this.#client !== opened) return;
    this.#failures = 0;
    if (this.#channels.size === 0) return this.#stop();
    this.#beat(opened);
  }

  async #listen(client: PostgresClient, channel: string): Promise<void> {
    // Only while somebody waits for the answer.
    if (this.#asking++ === 0) client.ref?.();
    try {
      await client.query(`listen ${channel}`);
    } catch {
      this.#lose(client);
    } finally {
      if (--this.#asking === 0) client.unref?.();
    }
  }

  #beat(client: PostgresClient): void {
    this.#after(heartbeatMs, async () => {
      let answered = false;
      client.query("select 1").then(
        () => {
          answered = true;
          if (this.#client === client) this.#beat(client);
        },
        () => this.#lose(client),
      );
      this.#after(heartbeatMs, () => {
        if (!answered) this.#lose(client);
      });
    });
  }

  /** Once for each connection, whatever of it fails first. */
  #lose(client: PostgresClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.release(true);
    this.#retry();
  }

  #retry(): void {
    if (this.#channels.size === 0) return;
    const pause = Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs);
    this.#after(pause * (0.5 + Math.random() / 2), () => this.#connect());
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#client?.release(true);
    this.#client = undefined;
  }

  #after(ms: number, action: () => unknown): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, ms);
    this.#timer.unref?.();
  }
}
