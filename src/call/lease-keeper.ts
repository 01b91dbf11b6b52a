import type { Warn } from "../events/warning.js";
import type { CreditLedger, Lease } from "../ledger/credit-ledger.js";
import type { Micro } from "../metering/micro.js";
import { type Listed, Roster } from "./indexed-set.js";

/** A lease that is renewed. */
export interface KeptLease extends Listed {
  readonly lease: Lease;
  /** What the call has cost so far. */
  readonly observed: () => Micro;
}

/**
 * Renews the leases of all calls in flight, together, three times in a lease's life. Each renewal carries what the call
 * has cost so far: should the process die, that is what its account is charged.
 */
export class LeaseKeeper {
  readonly #ledger: CreditLedger;
  readonly #leaseMs: number;
  readonly #warn: Warn;
  readonly #kept = new Roster<KeptLease>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isRenewing = false;

  constructor(ledger: CreditLedger, leaseMs: number, warn: Warn) {
    this.#ledger = ledger;
    this.#leaseMs = leaseMs;
    this.#warn = warn;
  }

  /** @returns what to {@link LeaseKeeper.drop} when the call has ended. */
  keep(lease: Lease, observed: () => Micro): KeptLease {
    const kept = { lease, observed, place: -1 };
    this.#kept.add(kept);
    if (this.#timer === undefined) this.#start();
    return kept;
  }

  drop(kept: KeptLease): void {
    this.#kept.remove(kept);
  }

  #start(): void {
    this.#timer = setInterval(() => void this.#renew(), this.#leaseMs / 3);
    // A call in flight keeps the process alive by its sockets; its lease alone need not.
    this.#timer.unref?.();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #renew(): Promise<void> {
    // A store that does not answer is not to get each round on top of the one before.
    if (this.#isRenewing) return;
    const kept = this.#kept.list();
    if (kept.length === 0) return this.stop();
    this.#isRenewing = true;
    try {
      const statuses = await this.#ledger.renew(
        kept.map(({ lease, observed }) => ({ lease, observedMicro: observed(), leaseMs: this.#leaseMs })),
      );
      for (const [index, one] of kept.entries()) {
        if (statuses[index] === "closed") this.#kept.remove(one);
      }
    } catch (cause) {
      // Harmless until the lease ends: the next renewal tries again.
      this.#warn({ code: "ledger_failed", message: "The ledger failed to renew leases; they are tried again.", cause });
    } finally {
      this.#isRenewing = false;
    }
  }
}
