import { LedgerUnavailableError } from "../ledger/credit-ledger.js";

/** The ledger has not accepted a settlement yet. The guard sends it again, so the caller need do nothing more. */
export class SettlementKeptError extends LedgerUnavailableError {
  /** Resolves when the ledger has accepted the settlement, or the guard has given it up. */
  readonly over: Promise<void>;

  constructor(message: string, over: Promise<void>, options?: ErrorOptions) {
    super(message, options);
    this.over = over;
  }
}
