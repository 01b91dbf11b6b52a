import { LeaseKeeper } from "../../../../src/call/lease-keeper.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { type WatchedLedger, watchedLedger } from "../../../../src/gateway/watched-ledger.js";
import type { Clock } from "../../../../src/ledger/calendar.js";
import type { CreditLedger, Lease } from "../../../../src/ledger/credit-ledger.js";
import type { LedgerEvent } from "../../../../src/ledger/guard/ledger-event.js";
import { BackgroundWork } from "../../../../src/runtime/background-work.js";
import { accountId, type Call, observedMicro } from "../books/call.js";
import type { ClientFigures } from "../books/client-figures.js";
import type { TrueBooks } from "../books/true-books.js";
import type { Owner } from "../engine/event-heap.js";
import type { Random } from "../engine/random.js";
import type { VirtualWorld } from "../engine/virtual-world.js";
import type { Traffic } from "./traffic.js";

export interface GatewayProcessOptions {
  readonly world: VirtualWorld;
  readonly random: Random;
  readonly traffic: Traffic;
  readonly books: TrueBooks;
  readonly figures: ClientFigures;
  readonly leaseMs: number;
  /** The mean time between two calls. */
  readonly pauseMs: number;
  /** No call begins after it. */
  readonly endsAtMs: number;
  connect(owner: Owner): CreditLedger;
}

/** The defaults of {@link GatewayOptions.ledgerOptions}. */
const ledgerOptions = {
  reserveTimeoutMs: 1_000,
  settleBeforeEndMs: 250,
  settleTimeoutMs: 2_000,
  onUnavailable: "deny",
  maxKeptSettlements: 10_000,
  replayMs: 15_000,
  denialCacheMs: 2_000,
} as const satisfies GatewayOptions["ledgerOptions"];

/** Processes' clocks differ by this much from the store's at most. */
const mostSkewMs = 100;

/** A process of a gateway: the guard and the lease keeper of the gateway itself, and clients that call. */
export class GatewayProcess implements Owner {
  isDead = false;
  readonly #options: GatewayProcessOptions;
  readonly #clock: Clock;
  readonly #ledger: CreditLedger;
  readonly #keeper: LeaseKeeper;
  /** All that a store may still hold something for. */
  readonly #calls = new Set<Call>();

  constructor(options: GatewayProcessOptions) {
    const { world, random, figures, leaseMs } = options;
    this.#options = options;
    this.#clock = world.clock(random.between(-mostSkewMs, mostSkewMs));
    this.#ledger = this.#watch(options.connect(this)).ledger;
    this.#keeper = new LeaseKeeper(this.#ledger, { leaseMs, warn: () => figures.warn() });
    this.#next();
  }

  kill(): void {
    this.isDead = true;
    for (const call of this.#calls) this.#options.books.kill(call);
  }

  #watch(ledger: CreditLedger): WatchedLedger {
    const { figures } = this.#options;
    const onLedgerEvent = (event: LedgerEvent): void => figures.ledgerEvent(event);
    const options = {
      ledger,
      ledgerOptions,
      onLedgerEvent,
      onThreshold: undefined,
      thresholds: { percent: [], prepaidMicro: undefined },
      isolate: false,
    };
    return watchedLedger(options, { clock: this.#clock, warn: () => figures.warn(), background: new BackgroundWork() });
  }

  #next(): void {
    const { world, random, pauseMs, endsAtMs } = this.#options;
    const waitMs = random.exponential(pauseMs);
    if (world.now + waitMs > endsAtMs) return;
    world.after(
      waitMs,
      () => {
        this.#next();
        void this.#call();
      },
      this,
    );
  }

  async #call(): Promise<void> {
    const { world, random, traffic, books, figures, leaseMs } = this.#options;
    const call = books.ask(traffic.demand(random));
    this.#calls.add(call);
    const askedAt = world.now;
    const { id, holdMicro: amountMicro } = call;
    const limits = traffic.limits(call.account, this.#clock.now());
    const request = { id, account: accountId(call.account), amountMicro, limits, leaseMs };
    try {
      const result = await this.#ledger.reserve(request);
      figures.reserved(askedAt, world.now, result.ok);
      if (result.ok) {
        this.#run(call, result.lease);
        return;
      }
      books.deny(call);
      this.#calls.delete(call);
    } catch {
      call.state = "unavailable";
      figures.unavailable(askedAt);
    }
  }

  #run(call: Call, lease: Lease): void {
    const { world, books, figures } = this.#options;
    books.start(call);
    const kept = { lease, observed: () => observedMicro(call, world.now), place: -1 };
    this.#keeper.keep(kept);
    world.after(
      call.durationMs,
      () => {
        this.#keeper.drop(kept);
        books.end(call);
        this.#ledger.settle(lease, { amountMicro: call.costMicro }).then(
          () => {
            figures.settled();
            this.#calls.delete(call);
          },
          () => figures.settlementKept(),
        );
      },
      this,
    );
  }
}
