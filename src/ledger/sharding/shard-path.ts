import type { CreditLedger } from "../credit-ledger.js";
import { shardingOf } from "./sharding.js";

/**
 * The name of the shard that keeps an account, `eu/one` where a shard is sharded itself; `""`: the ledger has no shards.
 * @throws what `shardOf` throws.
 */
export function shardPath(ledger: CreditLedger, account: string): string {
  const sharding = shardingOf(ledger);
  if (sharding === undefined) return "";
  const name = sharding.shardOf(account);
  const shard = sharding.shards.get(name);
  const inner = shard === undefined ? "" : shardPath(shard, account);
  return inner === "" ? name : `${name}/${inner}`;
}
