import type { Micro } from "../metering/micro.js";
import type { AdmittedWindows } from "./account-state.js";
import { type Lease, LedgerConflictError, type WindowLimits } from "./credit-ledger.js";

/** What a store keeps of a reservation until shortly after its end, to recognise repetitions. */
export interface Receipt extends AdmittedWindows {
  readonly account: string;
  readonly amountMicro: Micro;
  readonly expiresAt: number;
}

export function toLease(id: string, receipt: Receipt, limits: WindowLimits): Lease {
  const { account, amountMicro, expiresAt, starts, ends } = receipt;
  return { id, account, amountMicro, expiresAt, starts, ends, limits };
}

interface Identity {
  readonly account: string;
  readonly amountMicro: Micro;
}

/** @throws LedgerConflictError when the id is known for another account or amount. */
export function requireSame(id: string, known: Identity, given: Identity): void {
  if (known.account === given.account && known.amountMicro === given.amountMicro) return;
  throw new LedgerConflictError(
    `${id} was used before with another ${known.account === given.account ? "amount" : "account"}.`,
  );
}
