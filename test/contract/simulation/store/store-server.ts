import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import type { VirtualWorld } from "../engine/virtual-world.js";

/** One operation, as the store does it. */
export type Operation = (rules: CreditLedger) => Promise<unknown>;

/** What became of an operation. */
export type Outcome = PromiseSettledResult<unknown>;

/** What the store's one thread takes, in microseconds. */
export interface StoreCosts {
  readonly scriptMicros: number;
  readonly operationMicros: number;
}

export interface StoreServerOptions {
  readonly world: VirtualWorld;
  readonly rules: CreditLedger;
  readonly costs: StoreCosts;
  /** Called with each operation when it was done. */
  readonly onDone?: ((operation: Operation) => void) | undefined;
}

/** A store with one thread: it runs one script after the other, in the order in which they arrive. */
export class StoreServer {
  rules: CreditLedger;
  scripts = 0;
  operations = 0;
  busyMs = 0;
  readonly #options: StoreServerOptions;
  readonly #listeners = new Set<() => void>();
  readonly #returns = new Set<() => void>();
  #freeAt = 0;
  #isUp = true;
  /** Grows with each failure: what the server had before it is gone. */
  #life = 0;

  constructor(options: StoreServerOptions) {
    this.#options = options;
    this.rules = options.rules;
  }

  /** A script has arrived. `reply` is not called when the server fails meanwhile. */
  receive(operations: readonly Operation[], reply: (outcomes: readonly Outcome[]) => void): void {
    if (!this.#isUp) return;
    const { world, costs } = this.#options;
    const costMs = (costs.scriptMicros + operations.length * costs.operationMicros) / 1_000;
    this.#freeAt = Math.max(world.now, this.#freeAt) + costMs;
    const life = this.#life;
    world.afterAlways(this.#freeAt - world.now, async () => {
      if (life !== this.#life) return;
      this.scripts++;
      this.operations += operations.length;
      this.busyMs += costMs;
      reply(await Promise.allSettled(operations.map((operation) => this.#run(operation))));
    });
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** All connections break. */
  fail(): void {
    this.#isUp = false;
    this.#life++;
    for (const listener of this.#listeners) listener();
  }

  /** Another server has taken its place. */
  comeBack(rules: CreditLedger): void {
    this.rules = rules;
    this.#isUp = true;
    this.#freeAt = this.#options.world.now;
    for (const listener of this.#returns) listener();
  }

  onFailure(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onReturn(listener: () => void): () => void {
    this.#returns.add(listener);
    return () => this.#returns.delete(listener);
  }

  #run(operation: Operation): Promise<unknown> {
    const result = operation(this.rules);
    this.#options.onDone?.(operation);
    return result;
  }
}
