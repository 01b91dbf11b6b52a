import type { Clock } from "../ledger/clock.js";
import type { Emit } from "./ledger-event.js";

/** Whether the ledger's store answers, as far as its latest answers tell. */
export class Availability {
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #onReturn: (downSince: number) => void;
  #downSince: number | undefined;

  /** @param onReturn - the store answers again; it may be another one, which lacks what it acknowledged at last. */
  constructor(clock: Clock, emit: Emit, onReturn: (downSince: number) => void) {
    this.#clock = clock;
    this.#emit = emit;
    this.#onReturn = onReturn;
  }

  get isDown(): boolean {
    return this.#downSince !== undefined;
  }

  failed(operation: string, cause: unknown): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = this.#clock.now();
    this.#emit({ type: "unavailable", operation, cause });
  }

  succeeded(): void {
    const downSince = this.#downSince;
    if (downSince === undefined) return;
    this.#downSince = undefined;
    this.#emit({ type: "available", outageMs: Math.max(0, this.#clock.now() - downSince) });
    this.#onReturn(downSince);
  }
}
