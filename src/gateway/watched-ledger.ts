import type { Warn } from "../events/warning.js";
import type { Clock } from "../ledger/calendar.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import { GuardedCreditLedger, type GuardOptions } from "../ledger/guard/guarded-credit-ledger.js";
import { type LedgerEvent, type LedgerHealth, ownLedgerHealth } from "../ledger/guard/ledger-event.js";
import { atMost } from "../ledger/promised.js";
import { type Sharding, shardedLedger, shardingOf } from "../ledger/sharded-ledger.js";
import { toMicro } from "../prices/micro.js";
import type { BackgroundWork } from "../runtime/background-work.js";
import { callHook } from "../runtime/host-code.js";
import { letProcessEnd } from "../runtime/let-process-end.js";
import { ChangeWatch } from "./change-watch.js";
import type { ResolvedOptions } from "./resolve-options.js";
import { thresholdLedger } from "./thresholds.js";

export interface WatchedLedger {
  readonly ledger: CreditLedger;
  /** Closes the guard and ends the subscription. The ledger itself stays open: the host owns it. */
  close(): Promise<void>;
  /** Of the ledger, or of each of its shards. */
  health(): readonly LedgerHealth[];
  /** Resolves when all settlements that are kept now are accepted or given up, or after `maxMs`. */
  idle(maxMs: number): Promise<void>;
}

type WatchOptions = Pick<
  ResolvedOptions,
  "ledger" | "ledgerOptions" | "onLedgerEvent" | "onThreshold" | "thresholds" | "isolate"
>;

interface WatchServices {
  readonly clock: Clock;
  readonly warn: Warn;
  readonly background: BackgroundWork;
}

/** The ledger as the gateway uses it: in its guard, and swept for as long as the gateway is open. */
export function watchedLedger(options: WatchOptions, services: WatchServices): WatchedLedger {
  const { ledger, close, health, idle } = guarded(options, services);
  const sweep = new LedgerSweep(ledger, options.isolate);
  return {
    ledger,
    health,
    idle,
    close: async () => {
      await sweep.stop();
      await close();
    },
  };
}

/**
 * Wraps a remote ledger in its guard. The guard forgets the cached denials of accounts that another process changes. A
 * ledger in this process's memory needs no guard. Of a sharded one each shard has a guard of its own, so that one that
 * is away keeps up its own accounts only.
 */
function guarded(options: WatchOptions, services: WatchServices): WatchedLedger {
  const sharding = shardingOf(options.ledger);
  return sharding === undefined
    ? watchedStore(options, services)
    : watchedShards(sharding, (name, ledger) => guarded(ofShard(options, name, ledger), services));
}

function watchedShards(
  { shards, shardOf }: Sharding,
  watch: (name: string, ledger: CreditLedger) => WatchedLedger,
): WatchedLedger {
  const watched = Array.from(shards, ([name, ledger]) => [name, watch(name, ledger)] as const);
  return {
    ledger: shardedLedger({
      shards: Object.fromEntries(watched.map(([name, { ledger }]) => [name, ledger])),
      shardOf,
    }),
    health: () =>
      watched.flatMap(([name, { health }]) => health().map((each) => ({ ...each, shard: pathOf(name, each.shard) }))),
    idle: async (maxMs) => {
      await Promise.all(watched.map(([, shard]) => shard.idle(maxMs)));
    },
    close: async () => {
      await Promise.all(watched.map(([, shard]) => shard.close()));
    },
  };
}

/** The options for one shard. Its events bear its name: `eu/one` where a shard is sharded itself. */
function ofShard(options: WatchOptions, shard: string, ledger: CreditLedger): WatchOptions {
  const { onLedgerEvent } = options;
  if (onLedgerEvent === undefined) return { ...options, ledger };
  return {
    ...options,
    ledger,
    onLedgerEvent: (event) => onLedgerEvent({ ...event, shard: pathOf(shard, event.shard) }),
  };
}

function pathOf(shard: string, inner: string | undefined): string {
  return inner === undefined ? shard : `${shard}/${inner}`;
}

function watchedStore(options: WatchOptions, { clock, warn, background }: WatchServices): WatchedLedger {
  const { onThreshold, thresholds, isolate } = options;
  const store =
    onThreshold === undefined
      ? options.ledger
      : thresholdLedger(options.ledger, { onThreshold, thresholds, background, warn });
  if (store.inProcess === true) {
    return { ledger: store, close: nothingToEnd, idle: nothingToEnd, health: () => [ownLedgerHealth] };
  }
  const watch = new ChangeWatch({
    subscribe: store.subscribe && ((onChange) => store.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (account) => ledger.changed(account),
    what: "ledger",
    ...{ warn, isolate },
  });
  const { mayRemember } = watch;
  const ledger = new GuardedCreditLedger(store, { ...guardOptions(options, clock, warn), mayRemember });
  return {
    ledger,
    health: () => [ledger.health],
    idle: (maxMs) => ledger.idle(maxMs),
    close: async () => {
      await ledger.close();
      await watch.close();
    },
  };
}

const nothingToEnd = async (): Promise<void> => {};

/** The options of the ledger's guard. Its events go to the host's hook, and cause warnings. */
function guardOptions(
  { ledgerOptions, onLedgerEvent, isolate }: Pick<ResolvedOptions, "ledgerOptions" | "onLedgerEvent" | "isolate">,
  clock: Clock,
  warn: Warn,
): Omit<GuardOptions, "mayRemember"> {
  const { onUnavailable, ...rest } = ledgerOptions;
  const insureMicro = { deny: undefined, allow: null };
  return {
    ...rest,
    isolate,
    insureMicro: typeof onUnavailable === "string" ? insureMicro[onUnavailable] : toMicro(onUnavailable.insure.credits),
    clock,
    emit: (event) => {
      warnOf(event, warn);
      if (onLedgerEvent === undefined) return;
      callHook(
        () => onLedgerEvent(event),
        (cause) => warn({ code: "hook_failed", message: "onLedgerEvent failed.", cause }),
      );
    },
  };
}

const lost = {
  overflow: "Too many settlements are kept for a ledger that does not take them: the oldest was given up",
  closed: "The gateway was closed before the ledger took a settlement",
  refused: "The ledger refuses a settlement that was kept for it",
  gave_up: "The ledger did not take a settlement for so long that its request had to end",
};

function warnOf(event: LedgerEvent, warn: Warn): void {
  if (event.type === "settle_unresolved") {
    const message = "A call was settled so late that an earlier charge cannot be ruled out. It was not charged again.";
    warn({ code: "charge_unresolved", message, requestId: event.requestId });
  } else if (event.type === "settle_kept") {
    const message = "The ledger has not accepted the settlement of a call. It is kept, and sent again.";
    warn({ code: "ledger_failed", message, requestId: event.requestId, cause: event.cause });
  } else if (event.type === "settle_lost" && event.settlement !== undefined) {
    const { reason, chargedMicro, account, cause, requestId } = event;
    const message = `${lost[reason]}. ${chargedMicro} micro-credits of the account "${account}" are not charged.`;
    warn({ code: "charge_lost", message, requestId, ...(cause === undefined ? undefined : { cause }) });
  }
}

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
    letProcessEnd(this.#timer);
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
