import type { Clock } from "../ledger/clock.js";
import type { Emit } from "./ledger-event.js";

/** Whether the ledger's store responds, as far as its latest responses show. */
export class Availability {
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #onAnswer: () => void;
  readonly #onReturn: (downSince: number) => void;
  #downSince: number | undefined;

  constructor(options: {
    clock: Clock;
    emit: Emit;
    /** The store has responded. */
    onAnswer: () => void;
    /** The store responds again. It may be another server, which lacks what the first one acknowledged last. */
    onReturn: (downSince: number) => void;
  }) {
    this.#clock = options.clock;
    this.#emit = options.emit;
    this.#onAnswer = options.onAnswer;
    this.#onReturn = options.onReturn;
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
    this.#onAnswer();
    const downSince = this.#downSince;
    if (downSince === undefined) return;
    this.#downSince = undefined;
    this.#emit({ type: "available", outageMs: Math.max(0, this.#clock.now() - downSince) });
    this.#onReturn(downSince);
  }
}
