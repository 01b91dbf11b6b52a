import type { CreditLedger } from "../credit-ledger.js";

/** What a sharded ledger consists of. */
export interface Sharding {
  readonly shards: ReadonlyMap<string, CreditLedger>;
  /** The name of the shard that keeps an account. */
  readonly shardOf: (account: string) => string;
}

/**
 * By the sharded ledgers themselves. A copy, a proxy or an object that inherits from one may have methods of the host's
 * own, so it counts as a ledger of its own.
 */
const shardings = new WeakMap<CreditLedger, Sharding>();

export function setSharding(ledger: CreditLedger, sharding: Sharding): void {
  shardings.set(ledger, sharding);
}

/** `undefined`: the ledger is not a sharded one. */
export function shardingOf(ledger: CreditLedger): Sharding | undefined {
  return shardings.get(ledger);
}
