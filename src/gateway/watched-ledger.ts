import type { Warn } from "../events/warning.js";
import { GuardedCreditLedger } from "../guard/guarded-credit-ledger.js";
import { type LedgerHealth, ownLedgerHealth } from "../guard/ledger-health.js";
import type { Clock } from "../ledger/clock.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import { shardedLedger } from "../ledger/sharding/sharded-ledger.js";
import { type Sharding, shardingOf } from "../ledger/sharding/sharding.js";
import type { BackgroundWork } from "../runtime/background-work.js";
import { ChangeWatch } from "./change-watch.js";
import { guardOptions } from "./guard-options.js";
import { LedgerSweep } from "./ledger-sweep.js";
import type { ResolvedOptions } from "./options.js";
import { thresholdLedger } from "./thresholds/threshold-ledger.js";

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
