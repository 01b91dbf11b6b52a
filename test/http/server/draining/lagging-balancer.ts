/** A load balancer that knows of its replicas' readiness only what its latest poll has shown. */
export class LaggingBalancer {
  readonly #pollEvery: number;
  /** The origins of all replicas, and whether each was ready at the latest poll. */
  readonly #replicas = new Map<string, boolean>();
  #requests = 0;
  #polls = 0;
  #polling: Promise<void> = Promise.resolve();
  #waiting: { from: number; resolve: () => void }[] = [];

  /** @param pollEvery - so many requests lie between two polls. */
  constructor(pollEvery: number) {
    this.#pollEvery = pollEvery;
  }

  add(origin: string): void {
    this.#replicas.set(origin, false);
  }

  remove(origin: string): void {
    this.#replicas.delete(origin);
  }

  /** Sends a request to the ready replicas in turn. */
  async fetch(path: string, init: RequestInit): Promise<{ origin: string; response: Response }> {
    if (this.#requests++ % this.#pollEvery === 0) this.#polling = this.#polling.then(() => this.#poll());
    const ready = [...this.#replicas].filter(([, isReady]) => isReady).map(([origin]) => origin);
    const origin = ready[this.#requests % ready.length];
    if (origin === undefined) {
      // Without this turn of the event loop, clients that try again at once would keep polls from ending.
      await this.#polling;
      throw new Error("No replica is ready.");
    }
    return { origin, response: await fetch(`${origin}${path}`, init) };
  }

  /** Polls now, before the first request. */
  async start(): Promise<void> {
    await this.#poll();
  }

  /** Resolves when so many polls have begun and ended from now on. */
  polled(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ from: this.#polls + count, resolve }));
  }

  async #poll(): Promise<void> {
    for (const origin of [...this.#replicas.keys()]) {
      const status = await fetch(`${origin}/readyz`).then(
        (response) => response.status,
        () => 0,
      );
      if (this.#replicas.has(origin)) this.#replicas.set(origin, status === 200);
    }
    this.#polls++;
    const isDue = ({ from }: { from: number }): boolean => from <= this.#polls;
    for (const { resolve } of this.#waiting.filter(isDue)) resolve();
    this.#waiting = this.#waiting.filter((each) => !isDue(each));
  }
}
