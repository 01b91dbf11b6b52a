import { atMost } from "../ledger/at-most.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";

/** A lease that has expired reaches the journal within so many milliseconds, also where nobody calls its account again. */
const intervalMs = 20_000;
/** How long the end of the gateway waits for a sweep: settlements that are kept go first, and its store may hang. */
const stopMs = 1_000;

/**
 * Ends leases whose process died, again and again. Each process does it for the whole store, so that one is enough. A ledger
 * in this process's memory needs none: its leases die with it. An isolate has none either: no timer outlives its request.
 */
export class LedgerSweep {
  readonly #ledger: CreditLedger;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | undefined;

  constructor(ledger: CreditLedger, isolate: boolean) {
    this.#ledger = ledger;
    if (ledger.sweep === undefined || ledger.inProcess === true || isolate) return;
    this.#timer = setInterval(() => {
      this.#running ??= this.#sweep();
    }, intervalMs);
    // The timer need not keep the process alive.
    if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  /** Resolves when a sweep that runs has ended, or after a second. What it leaves, another process does. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await atMost(stopMs, this.#running);
  }

  async #sweep(): Promise<void> {
    try {
      await this.#ledger.sweep?.();
    } catch {
      // The ledger's guard has reported it, and the next sweep tries again.
    } finally {
      this.#running = undefined;
    }
  }
}
