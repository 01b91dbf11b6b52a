import type { Clock } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { idHash } from "../../../../src/ledger/id-hash.js";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";

/** More than a run makes. */
const historyEntries = 100_000_000;

/**
 * What a store decides: the memory ledger's rules. The memory ledger searches its whole journal for an account's entries,
 * so the accounts are spread over several, lest the audit of many takes for ever.
 */
export function storeRules(clock: Clock, parts: number): CreditLedger {
  const names = Array.from({ length: parts }, (_, index) => String(index));
  return shardedLedger({
    shards: Object.fromEntries(names.map((name) => [name, memoryCreditLedger({ clock, historyEntries })])),
    shardOf: (account) => names[((idHash(account)[3] ?? 0) >>> 0) % parts] as string,
  });
}
