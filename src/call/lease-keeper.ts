import type { Warn } from "../events/warning.js";
import type { CreditLedger, EntryTags, Lease, RenewRequest } from "../ledger/credit-ledger.js";
import { type Indexed, IndexedSet } from "../ledger/indexed-set.js";
import type { RateUse } from "../ledger/limits.js";
import type { Micro } from "../prices/micro.js";
import { letProcessEnd } from "../runtime/let-process-end.js";

/** A lease that the keeper renews. */
export interface KeptLease extends Indexed {
  readonly lease: Lease;
  /** The cost of the call so far. */
  observed(): Micro;
  /** What the call has used of its rates so far. Absent, or `undefined`: it has none. */
  uses?(): readonly RateUse[] | undefined;
  /** Whose call it is, for the journal. */
  tags?(): EntryTags;
}

/** How leases are renewed. */
export interface LeaseKeeperOptions {
  readonly leaseMs: number;
  readonly warn: Warn;
  /** Whether each lease has a timer of its own, which ends with its request: see `isIsolate`. */
  readonly isolate?: boolean | undefined;
}

/**
 * Renews the leases of all calls in progress together, three times per lease duration. Each renewal carries the cost of
 * the call so far. If the process dies, the ledger charges that cost.
 */
export class LeaseKeeper {
  readonly #ledger: CreditLedger;
  readonly #options: LeaseKeeperOptions;
  /** In an isolate: who renews a lease alone. */
  readonly #alone = new Map<KeptLease, LeaseKeeper>();
  readonly #kept = new IndexedSet<KeptLease>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isRenewing = false;
  /** When the timer ran last, or was set, by the monotonic clock. In an isolate: when this was last asked of all. */
  #ranAt = 0;

  constructor(ledger: CreditLedger, options: LeaseKeeperOptions) {
    this.#ledger = ledger;
    this.#options = options;
  }

  /** Renews the lease until it is dropped. */
  keep(kept: KeptLease): void {
    if (this.#options.isolate) {
      this.#dropCutOff();
      const keeper = new LeaseKeeper(this.#ledger, { ...this.#options, isolate: false });
      this.#alone.set(kept, keeper);
      keeper.keep(kept);
      return;
    }
    this.#kept.add(kept);
    if (this.#timer === undefined) this.#start();
  }

  /** The call has ended. */
  drop(kept: KeptLease): void {
    if (this.#options.isolate) {
      const keeper = this.#alone.get(kept);
      this.#alone.delete(kept);
      keeper?.stop();
      keeper?.drop(kept);
    } else this.#kept.remove(kept);
  }

  /** A runtime that ends a request stops its timers, and says nothing: what its call holds ends with its lease. */
  #dropCutOff(): void {
    const now = performance.now();
    const { leaseMs } = this.#options;
    if (now - this.#ranAt < leaseMs) return;
    this.#ranAt = now;
    for (const [kept, keeper] of this.#alone) if (now - keeper.#ranAt >= leaseMs) this.drop(kept);
  }

  #start(): void {
    this.#ranAt = performance.now();
    this.#timer = setInterval(() => void this.#renew(), this.#options.leaseMs / 3);
    // The timer need not keep the process alive: the sockets of a call do.
    letProcessEnd(this.#timer);
  }

  stop(): void {
    for (const keeper of this.#alone.values()) keeper.stop();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #renew(): Promise<void> {
    this.#ranAt = performance.now();
    // While one renewal waits for a slow store, the next one is skipped.
    if (this.#isRenewing) return;
    const kept = this.#kept.list();
    if (kept.length === 0) return this.stop();
    this.#isRenewing = true;
    const { leaseMs, warn } = this.#options;
    try {
      const statuses = await this.#ledger.renew(
        kept.map((one) => {
          const request: RenewRequest = { lease: one.lease, observedMicro: one.observed(), leaseMs };
          const rates = one.uses?.();
          if (rates !== undefined) request.rates = rates;
          if (request.observedMicro > 0 && one.tags !== undefined) request.tags = one.tags();
          return request;
        }),
      );
      for (const [index, one] of kept.entries()) {
        if (statuses[index] === "closed") this.#kept.remove(one);
      }
    } catch (cause) {
      // No harm until the lease ends: the next renewal tries again.
      warn({
        code: "ledger_failed",
        message: "The ledger failed to renew leases. The gateway tries again.",
        cause,
      });
    } finally {
      this.#isRenewing = false;
    }
  }
}
