import type { Micro } from "../metering/micro.js";
import type { Admission } from "./account-state.js";
import { type Lease, LedgerConflictError, type WindowLimits } from "./credit-ledger.js";

/** What is remembered of a reservation to its end and a little longer, to recognise repetitions. */
export interface Receipt extends Admission {
  readonly subject: string;
  readonly amount: Micro;
  readonly expiresAt: number;
}

export function toLease(id: string, receipt: Receipt, limits: WindowLimits): Lease {
  const { subject, amount, expiresAt, starts, ends } = receipt;
  return { id, subject, amount, expiresAt, starts, ends, limits };
}

interface Identity {
  readonly subject: string;
  readonly amount: Micro;
}

/** @throws LedgerConflictError when the id is known for another subject or amount. */
export function requireSame(id: string, known: Identity, given: Identity): void {
  if (known.subject === given.subject && known.amount === given.amount) return;
  throw new LedgerConflictError(
    `${id} was used before with another ${known.subject === given.subject ? "amount" : "subject"}.`,
  );
}
