import type { Lease, SettleStatus } from "../../../../src/ledger/credit-ledger.js";
import type { LeasedCap } from "../../../../src/ledger/limits.js";
import type { Crumb } from "../crumb.js";

/** A line of what a spending process has done, written before anything else can happen. `at`: epoch milliseconds. */
export type SpendingStep =
  | (Crumb & { at: number; step: "reserving"; account: string })
  | (Crumb & { at: number; step: "reserved"; lease: TracedLease })
  | (Crumb & { at: number; step: "denied"; by: readonly string[] })
  | (Crumb & { at: number; step: "renewing" | "renewed"; leaseMs: number; uses: Uses })
  | (Crumb & { at: number; step: "settling" })
  | (Crumb & { at: number; step: "settled"; status: SettleStatus })
  /** What a call would use of its rates at its end, whether it is charged or not. */
  | { at: number; step: "ending"; id: string; uses: Uses }
  /** A deduction is a top-up of a negative amount. */
  | { at: number; step: "topping up" | "topped up"; id: string; account: string; micro: number; expiresAt?: number }
  /** A limit that a result shows to be exceeded by a whole call or more. */
  | { at: number; step: "overspent"; id: string; limit: string };

/** By the ids of the rates, in whole requests or tokens. */
type Uses = Readonly<Record<string, number>>;

/** What of a lease its books need. */
export interface TracedLease {
  admittedAt: number;
  expiresAt: number;
  starts: Lease["starts"];
  caps: readonly LeasedCap[];
  /** What was taken of each. */
  takes: Uses;
}
