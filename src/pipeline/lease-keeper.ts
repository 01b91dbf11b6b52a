import type { CreditLedger, Lease, Micro } from "../ledger/credit-ledger.js";
import type { Warn } from "./warning.js";

interface Kept {
  lease: Lease;
  observed: () => Micro;
}

/**
 * Renews the leases of all calls in flight, together, three times in a lease's life. Each renewal carries what the call
 * has cost so far: should the process die, that is what its account is charged.
 */
export class LeaseKeeper {
  readonly #ledger: CreditLedger;
  readonly #leaseMs: number;
  readonly #warn: Warn;
  readonly #kept = new Map<string, Kept>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(ledger: CreditLedger, leaseMs: number, warn: Warn) {
    this.#ledger = ledger;
    this.#leaseMs = leaseMs;
    this.#warn = warn;
  }

  keep(lease: Lease, observed: () => Micro): void {
    this.#kept.set(lease.id, { lease, observed });
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#renew(), this.#leaseMs / 3);
    // A call in flight keeps the process alive by its sockets; its lease alone need not.
    this.#timer.unref?.();
  }

  drop(lease: Lease): void {
    this.#kept.delete(lease.id);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #renew(): Promise<void> {
    const kept = [...this.#kept.values()];
    if (kept.length === 0) return this.stop();
    try {
      const statuses = await this.#ledger.renew(
        kept.map(({ lease, observed }) => ({ lease, observed: observed(), leaseMs: this.#leaseMs })),
      );
      for (const [index, { lease }] of kept.entries()) {
        if (statuses[index] === "closed") this.#kept.delete(lease.id);
      }
    } catch (cause) {
      // Harmless until the lease ends: the next renewal tries again.
      this.#warn({ code: "ledger_failed", message: "The ledger failed to renew leases; they are tried again.", cause });
    }
  }
}
