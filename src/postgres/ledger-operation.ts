import {
  type GrantRequest,
  type Lease,
  LedgerInputError,
  type RenewRequest,
  type ReserveRequest,
  type Settlement,
  type WindowLimits,
  type WindowName,
} from "../ledger/credit-ledger.js";
import { checkAccount, checkGrant, checkRenew, checkReserve, checkSettle } from "../ledger/ledger-input.js";
import { storable } from "./storable.js";

/** An operation on an account as the function `operate` of the schema takes it. */
export interface LedgerOperation {
  readonly op: "reserve" | "settle" | "renew" | "grant" | "reset";
  readonly [member: string]: unknown;
}

/** The order in which arrays of the schema hold the windows; the first has the number 1 there. */
export const storedWindows: readonly WindowName[] = ["session", "week", "month"];

export function reserveOperation(request: ReserveRequest): LedgerOperation {
  checkReserve(request);
  const { id, amountMicro, limits, leaseMs } = request;
  return { op: "reserve", id, amount: amountMicro, need: needOf(request), leaseMs, limits: limitsArray(limits) };
}

/** What must remain in every limited window. */
export function needOf({ strict = false, amountMicro }: ReserveRequest): number {
  return strict ? Math.max(1, amountMicro) : 1;
}

export function renewOperation(request: RenewRequest): LedgerOperation {
  checkRenew(request);
  const { lease, observedMicro, leaseMs } = request;
  return { op: "renew", id: lease.id, amount: lease.amountMicro, observed: observedMicro, leaseMs };
}

/** @param kind - how the journal calls it. */
export function settleOperation(lease: Lease, settlement: Settlement, kind: "charge" | "release"): LedgerOperation {
  checkSettle(lease, settlement);
  const { id, amountMicro, expiresAt } = lease;
  const starts = storedWindows.map((window) => lease.starts?.[window]);
  const ends = storedWindows.map((window) => lease.ends?.[window]);
  if (![amountMicro, expiresAt, ...starts, ...ends].every(Number.isSafeInteger)) {
    throw new LedgerInputError("lease must be as it was given out, with times in whole milliseconds.");
  }
  const since = settlement.mayBeDuplicateSince;
  return {
    op: "settle",
    id,
    kind,
    amount: amountMicro,
    charge: settlement.amountMicro,
    expiresAt,
    starts,
    ends,
    since: since === undefined ? null : Math.floor(since),
    tags: storable(settlement.tags),
  };
}

export function grantOperation(request: GrantRequest): LedgerOperation {
  checkGrant(request);
  const { id, window, amountMicro, limits, note } = request;
  const tags = note === undefined ? undefined : storable({ note });
  return { op: "grant", id, window: windowNumber(window), amount: amountMicro, limits: limitsArray(limits), tags };
}

export function resetOperation(account: string, windows: readonly WindowName[]): LedgerOperation {
  checkAccount(account);
  return { op: "reset", windows: windows.map(windowNumber) };
}

function windowNumber(window: WindowName): number {
  return storedWindows.indexOf(window) + 1;
}

function limitsArray({ session, week, month }: WindowLimits): (number | null)[] {
  if (![...week.bounds, ...month.bounds].every(Number.isSafeInteger)) {
    throw new LedgerInputError("limits: bounds must be whole milliseconds.");
  }
  return [session.limitMicro, session.lengthMs, week.limitMicro, ...week.bounds, month.limitMicro, ...month.bounds];
}
