/** How a ledger has answered, as this process sees it. Instants are epoch milliseconds. */
export interface LedgerHealth {
  /** Of a `shardedLedger`, the name of the ledger, `eu/one` where that is sharded itself. Absent: there is one alone. */
  shard?: string;
  /** Since when it does not answer. Absent: it has answered last, or was never asked. */
  downSince?: number;
  /** How often it has stopped answering since the gateway was made. */
  outages: number;
  /** The last time that it did not answer and is over. Absent: there was none. */
  lastOutage?: { readonly from: number; readonly to: number };
  /** Settlements and releases that it has not accepted yet: they are kept in this process, and sent again. */
  kept: number;
  /** Since when the oldest of them is kept. Absent: there is none. */
  keptSince?: number;
  /** Settlements and releases that will not reach it, since the gateway was made: `onLedgerEvent` got each. */
  lost: number;
}

/** Of a ledger in this process: it answers at once, and always. */
export const ownLedgerHealth: LedgerHealth = { outages: 0, kept: 0, lost: 0 };
