import type { Clock } from "../ledger/clock.js";
import type { Emit } from "./ledger-event.js";
import type { LedgerHealth } from "./ledger-health.js";

/** Whether the ledger's store responds, as far as its latest responses show. */
export class Availability {
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #onAnswer: () => void;
  readonly #onReturn: (downSince: number) => void;
  #downSince: number | undefined;
  #outages = 0;
  #lastOutage: LedgerHealth["lastOutage"];

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

  /** What is known of its outages. */
  get history(): Pick<LedgerHealth, "downSince" | "outages" | "lastOutage"> {
    return {
      outages: this.#outages,
      ...(this.#downSince !== undefined && { downSince: this.#downSince }),
      ...(this.#lastOutage !== undefined && { lastOutage: this.#lastOutage }),
    };
  }

  failed(operation: string, cause: unknown): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = this.#clock.now();
    this.#outages++;
    this.#emit({ type: "unavailable", operation, cause });
  }

  succeeded(): void {
    this.#onAnswer();
    const downSince = this.#downSince;
    if (downSince === undefined) return;
    this.#downSince = undefined;
    const to = Math.max(downSince, this.#clock.now());
    this.#lastOutage = { from: downSince, to };
    this.#emit({ type: "available", outageMs: to - downSince });
    this.#onReturn(downSince);
  }
}
