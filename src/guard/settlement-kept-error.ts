import { LedgerUnavailableError } from "../ledger/credit-ledger.js";

/** The ledger has not taken a settlement yet. It will, and its caller need do nothing more. */
export class SettlementKeptError extends LedgerUnavailableError {}
