import { LedgerUnavailableError } from "../ledger/credit-ledger.js";

/** The ledger has not accepted a settlement yet. The guard sends it again, so the caller need do nothing more. */
export class SettlementKeptError extends LedgerUnavailableError {}
