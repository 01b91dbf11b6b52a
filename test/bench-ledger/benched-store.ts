import type { CreditLedger } from "../../src/ledger/credit-ledger.js";

/** What reserves and settles once. */
export type Pair = (account: string) => Promise<unknown> | unknown;

/** A ledger to measure, and what its store can do without one. */
export interface BenchedStore {
  readonly ledger: CreditLedger;
  /** How many pairs are in flight at a time. */
  readonly inFlight: number;
  /**
   * The same reading and writing as of a pair of the ledger, of the same sizes, and nothing else: no decision, no
   * arithmetic, no check.
   */
  readonly raw?: Pair;
  /** A pair of the ledger's statements on one account, each sent for itself. */
  readonly unbatched?: Pair;
  /** What an idle account takes, after so many of them were used. */
  bytesPerAccount(accounts: number): Promise<number>;
  close(): Promise<void>;
}

/** @returns `undefined` where the store is not on this machine. */
export type OpenStore = () => Promise<BenchedStore | undefined>;
