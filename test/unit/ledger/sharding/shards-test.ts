import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";

/** Ledgers in memory, by name. */
export function memoryShards(...names: string[]): Record<string, CreditLedger> {
  return Object.fromEntries(names.map((name) => [name, memoryCreditLedger()]));
}

/** `acct_0` and so on. */
export function accountNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `acct_${index}`);
}
