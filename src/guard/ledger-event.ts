import type { Lease, Settlement, SettleStatus } from "../ledger/credit-ledger.js";
import type { Micro } from "../metering/micro.js";

/** A charge, or the return of a hold, on its way to the ledger. */
export interface LedgerEnding {
  /** The request's id, as in `x-request-id`. */
  requestId: string;
  account: string;
  /** What is charged, in micro-credits; 0 for a hold that is given back. */
  chargedMicro: Micro;
  /** How many endings are kept by now. */
  kept: number;
}

/** What `onLedgerEvent` gets. Counted, these are the ledger's metrics. */
export type LedgerEvent =
  /** An operation failed or took too long, after all was well. */
  | { type: "unavailable"; operation: string; cause: unknown }
  /** An operation succeeded again. */
  | { type: "available"; outageMs: number }
  /** The ledger did not take an ending: it is kept, and sent again. */
  | ({ type: "settle_kept"; cause?: unknown } & LedgerEnding)
  /** The ledger took an ending that was kept. */
  | ({ type: "settle_delivered"; status: SettleStatus; delayMs: number } & LedgerEnding)
  /**
   * The ledger could not decide whether it had taken a charge before, and did not take it. No call waited for it any
   * more.
   */
  | { type: "settle_unresolved"; requestId: string; account: string; chargedMicro: Micro }
  /**
   * A charge will not reach the ledger: too many were kept (`overflow`), the gateway was closed before the ledger came back
   * (`closed`), or the ledger refuses it (`refused`). The lease and settlement are what `ledger.settle` takes.
   */
  | ({
      type: "settle_lost";
      reason: "overflow" | "closed" | "refused";
      lease: Lease;
      /** Absent where a hold was to be given back. */
      settlement?: Settlement;
      cause?: unknown;
    } & LedgerEnding)
  /**
   * The latest settlements were sent again, since the store may have lost them. `statuses`: how many had which status.
   */
  | { type: "replayed"; statuses: Readonly<Partial<Record<SettleStatus, number>>>; failed: number }
  /** A reservation was denied from memory. */
  | { type: "denied_again"; account: string }
  /** The ledger was not available, and a call was let in all the same: `onUnavailable`. */
  | { type: "insured"; requestId: string; account: string; heldMicro: Micro };

/** Takes an event. Must not throw. */
export type Emit = (event: LedgerEvent) => void;
