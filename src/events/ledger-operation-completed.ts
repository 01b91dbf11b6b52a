/** What a request has asked of the ledger, once it is over. */
export interface LedgerOperationCompleted {
  readonly operation: "reserve" | "settle";
  /**
   * `held`, `settled`: the ledger has done it. `denied`: it has refused to hold the credits. `kept`: it is away, and the
   * settlement is sent later. `failed`: the call was refused, or its charge is lost.
   */
  readonly outcome: "held" | "denied" | "settled" | "kept" | "failed";
  /** Whether it took a store, and not the memory of this process alone. */
  readonly isRemote: boolean;
  readonly durationMs: number;
}

/** By the call whose operation it is. */
export type ObserveLedger = (operation: LedgerOperationCompleted) => void;
