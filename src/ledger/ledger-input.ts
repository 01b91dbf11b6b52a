import { idProblem } from "../check/id-problem.js";
import {
  type GrantRequest,
  type HistoryRequest,
  type Lease,
  LedgerInputError,
  type RenewRequest,
  type ReserveRequest,
  type Settlement,
  type WindowLimits,
} from "./credit-ledger.js";

const minLeaseMs = 1_000;
const maxLeaseMs = 900_000;
const maxSubjectLength = 128;
const maxPageLength = 1_000;

/** @throws LedgerInputError */
export function checkReserve(request: ReserveRequest): void {
  checkId(request.id);
  checkSubject(request.subject);
  checkAmount(request.amount, "amount");
  checkLeaseMs(request.leaseMs);
  checkLimits(request.limits);
}

/** @throws LedgerInputError */
export function checkRenew(request: RenewRequest): void {
  checkLease(request.lease);
  checkAmount(request.observed, "observed");
  checkLeaseMs(request.leaseMs);
}

/** @throws LedgerInputError */
export function checkSettle(lease: Lease, settlement: Settlement): void {
  checkLease(lease);
  checkAmount(settlement.amount, "amount");
}

/** @throws LedgerInputError */
export function checkGrant(request: GrantRequest): void {
  checkId(request.id);
  checkSubject(request.subject);
  checkLimits(request.limits);
  if (!Number.isSafeInteger(request.amount)) {
    throw new LedgerInputError(`amount must be a safe integer, not ${request.amount}.`);
  }
}

/** @throws LedgerInputError */
export function checkHistory({ subject, from, to, limit }: HistoryRequest): void {
  checkSubject(subject);
  for (const moment of [from, to]) {
    if (moment !== undefined && !Number.isSafeInteger(moment)) {
      throw new LedgerInputError(`from and to must be whole milliseconds, not ${moment}.`);
    }
  }
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1 && limit <= maxPageLength)) {
    throw new LedgerInputError(`limit must be a whole number from 1 to ${maxPageLength}, not ${limit}.`);
  }
}

/** @throws LedgerInputError */
export function checkLease(lease: Lease): void {
  checkId(lease.id);
  checkSubject(lease.subject);
}

/** @throws LedgerInputError */
export function checkSubject(subject: string): void {
  checkName(subject, "subject", maxSubjectLength);
}

/** @throws LedgerInputError */
export function checkLimits({ session, week, month }: WindowLimits): void {
  if (session.limit !== null) checkAmount(session.limit, "limits.session.limit");
  if (week.limit !== null) checkAmount(week.limit, "limits.week.limit");
  if (month.limit !== null) checkAmount(month.limit, "limits.month.limit");
  if (!Number.isSafeInteger(session.lengthMs) || session.lengthMs < 1) {
    throw new LedgerInputError(
      `limits.session.lengthMs must be a whole number of at least 1, not ${session.lengthMs}.`,
    );
  }
}

function checkId(id: string): void {
  checkName(id, "id");
}

function checkName(value: string, name: string, longest?: number): void {
  const problem = idProblem(value, longest);
  if (problem !== undefined) throw new LedgerInputError(`${name} ${problem}.`);
}

function checkAmount(amount: number, name: string): void {
  if (!Number.isSafeInteger(amount) || amount < 0) {
    throw new LedgerInputError(`${name} must be a safe integer of at least 0, not ${amount}.`);
  }
}

function checkLeaseMs(leaseMs: number): void {
  if (!Number.isSafeInteger(leaseMs) || leaseMs < minLeaseMs || leaseMs > maxLeaseMs) {
    throw new LedgerInputError(`leaseMs must be a whole number from ${minLeaseMs} to ${maxLeaseMs}, not ${leaseMs}.`);
  }
}
