import type { Micro } from "../../prices/micro.js";
import { type Lease, LedgerUnavailableError, type Settlement, type SettleStatus } from "../credit-ledger.js";

/** A settlement or release that is being sent to the ledger. */
export interface LedgerEnding {
  /** The request's id, as in `x-request-id`. */
  requestId: string;
  account: string;
  /** The charge in micro-credits; 0 for a release. */
  chargedMicro: Micro;
  /** How many settlements and releases are kept now. */
  kept: number;
}

/** Why a charge does not reach the ledger. */
export type LossReason = "overflow" | "closed" | "refused" | "gave_up";

/** What `onLedgerEvent` gets. Counts of these events are the ledger's metrics. */
export type LedgerEvent =
  /** An operation failed or took too long; the one before it had succeeded. */
  (
    | { type: "unavailable"; operation: string; cause: unknown }
    /** An operation succeeded again. */
    | { type: "available"; outageMs: number }
    /** The ledger did not accept a settlement or release. The gateway keeps it and sends it again. */
    | ({ type: "settle_kept"; cause?: unknown } & LedgerEnding)
    /** The ledger accepted one that was kept. */
    | ({ type: "settle_delivered"; status: SettleStatus; delayMs: number } & LedgerEnding)
    /**
     * The ledger could not tell whether it had charged this settlement before, and did not charge it. No call was waiting
     * for it any more.
     */
    | { type: "settle_unresolved"; requestId: string; account: string; chargedMicro: Micro }
    /**
     * A charge will not reach the ledger. `overflow`: too many were kept. `closed`: the gateway was closed before the
     * ledger came back. `refused`: the ledger refuses it. `gave_up`: in an isolate, it did not get through in 20 seconds.
     * The lease and settlement are what `ledger.settle` takes.
     */
    | ({
        type: "settle_lost";
        reason: LossReason;
        lease: Lease;
        /** Absent for a release. */
        settlement?: Settlement;
        cause?: unknown;
      } & LedgerEnding)
    /**
     * The latest settlements were sent again, since the store may have lost them. `statuses`: how many settlements had
     * each status.
     */
    | { type: "replayed"; statuses: Readonly<Partial<Record<SettleStatus, number>>>; failed: number }
    /** A reservation was denied from the cache of denials. */
    | { type: "denied_again"; account: string }
    /** The ledger was not available, and a call was admitted all the same: `onUnavailable`. */
    | { type: "insured"; requestId: string; account: string; heldMicro: Micro }
  ) & {
    /** Of a `shardedLedger`, the name of the ledger that it happened to. */
    shard?: string;
  };

/** Handles an event. Must not throw. */
export type Emit = (event: LedgerEvent) => void;

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

/** The ledger has not accepted a settlement yet. The guard sends it again, so the caller need do nothing more. */
export class SettlementKeptError extends LedgerUnavailableError {
  /** Resolves when the ledger has accepted the settlement, or the guard has given it up. */
  readonly over: Promise<void>;

  constructor(message: string, over: Promise<void>, options?: ErrorOptions) {
    super(message, options);
    this.over = over;
  }
}
