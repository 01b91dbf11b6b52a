import { idProblem } from "../check/id-problem.js";
import { journalTagPrefix } from "../prices/tags.js";
import { largestCount } from "../prices/usage-counts.js";
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
import { entryKinds } from "./journal.js";
import {
  type CapLimit,
  type DeductRequest,
  mostCaps,
  mostRates,
  type RateLimit,
  type RateUse,
  type TopUpRequest,
} from "./limits.js";
import { mostPeriods, type TotalsRequest, totalsDimensions, type UsageRequest } from "./usage/usage-request.js";

const minLeaseMs = 1_000;
const maxLeaseMs = 900_000;
const maxAccountLength = 128;
const maxPageLength = 1_000;
const mostDimensions = 16;
const mostMoments = mostPeriods + 1;

/** @throws LedgerInputError */
export function checkReserve(request: ReserveRequest): void {
  checkId(request.id);
  checkAccount(request.account);
  checkAmount(request.amountMicro, "amountMicro");
  checkLeaseMs(request.leaseMs);
  checkLimits(request.limits);
  checkNamed(request);
}

/** @throws LedgerInputError when a cap or rate is not valid, or two have the same id. */
export function checkNamed({ caps, rates }: Pick<ReserveRequest, "caps" | "rates">): void {
  if (caps !== undefined) {
    checkDistinct(caps, "caps", mostCaps);
    for (const cap of caps) checkAmount(cap.limitMicro, `the cap ${cap.id}'s limitMicro`);
  }
  if (rates !== undefined) {
    checkDistinct(rates, "rates", mostRates);
    for (const rate of rates) checkRate(rate);
  }
}

function checkDistinct(named: readonly (CapLimit | RateLimit)[], name: string, most: number): void {
  if (named.length > most) throw new LedgerInputError(`${name} must be ${most} at the most, not ${named.length}.`);
  for (const { id } of named) checkId(id);
  if (new Set(named.map(({ id }) => id)).size < named.length) {
    throw new LedgerInputError(`${name} must have different ids.`);
  }
}

function checkRate({ id, limit, burst, take }: RateLimit): void {
  for (const [name, count] of Object.entries({ limit, burst, take })) {
    if (!Number.isSafeInteger(count) || count < 0 || count > largestCount) {
      throw new LedgerInputError(`the rate ${id}'s ${name} must be a whole number from 0 to 10⁹, not ${count}.`);
    }
  }
}

/** @throws LedgerInputError */
export function checkUses(uses: readonly RateUse[]): void {
  for (const { id, actual } of uses) {
    if (!Number.isSafeInteger(actual) || actual < 0 || actual > largestCount) {
      throw new LedgerInputError(`actual of the rate ${id} must be a whole number from 0 to 10⁹, not ${actual}.`);
    }
  }
}

/** @throws LedgerInputError */
export function checkTopUp({ id, account, amountMicro, expiresAt }: TopUpRequest): void {
  checkId(id);
  checkAccount(account);
  if (!Number.isSafeInteger(amountMicro) || amountMicro < 1) {
    throw new LedgerInputError(`amountMicro must be a safe integer of at least 1, not ${amountMicro}.`);
  }
  if (expiresAt !== undefined && !Number.isSafeInteger(expiresAt)) {
    throw new LedgerInputError(`expiresAt must be whole milliseconds, not ${expiresAt}.`);
  }
}

/** @throws LedgerInputError */
export function checkDeduct(request: DeductRequest): void {
  checkTopUp(request);
}

/** @throws LedgerInputError */
export function checkRenew(request: RenewRequest): void {
  checkLease(request.lease);
  checkAmount(request.observedMicro, "observedMicro");
  checkLeaseMs(request.leaseMs);
  if (request.rates !== undefined) checkUses(request.rates);
}

/** @throws LedgerInputError */
export function checkSettle(lease: Lease, settlement: Settlement): void {
  checkLease(lease);
  checkAmount(settlement.amountMicro, "amountMicro");
  if (settlement.rates !== undefined) checkUses(settlement.rates);
}

/** @throws LedgerInputError */
export function checkGrant(request: GrantRequest): void {
  checkId(request.id);
  checkAccount(request.account);
  checkLimits(request.limits);
  if (!Number.isSafeInteger(request.amountMicro)) {
    throw new LedgerInputError(`amountMicro must be a safe integer, not ${request.amountMicro}.`);
  }
}

/** @throws LedgerInputError */
export function checkHistory({ account, from, to, limit, kinds, id }: HistoryRequest): void {
  checkAccount(account);
  if (id !== undefined) checkId(id);
  if (kinds !== undefined && !(kinds.length > 0 && kinds.every((kind) => entryKinds.includes(kind)))) {
    throw new LedgerInputError(`kinds must be some of ${entryKinds.join(", ")}, not ${JSON.stringify(kinds)}.`);
  }
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
export function checkUsage({ account, from, to, by }: UsageRequest): void {
  checkHistory({ account, from, to });
  if (by.length < 1 || by.length > mostDimensions || new Set(by).size < by.length) {
    throw new LedgerInputError(`by must have 1 to ${mostDimensions} names, each of them once.`);
  }
}

/** @throws LedgerInputError */
export function checkTotals({ periods, by, where }: TotalsRequest): void {
  const isAscending = periods.every((moment, place) => place === 0 || moment >= (periods[place - 1] as number));
  if (periods.length < 2 || periods.length > mostMoments || !periods.every(Number.isSafeInteger) || !isAscending) {
    throw new LedgerInputError(`periods must be 2 to ${mostMoments} whole milliseconds in ascending order.`);
  }
  if (by.length > mostDimensions || new Set(by).size < by.length) {
    throw new LedgerInputError(`by must have ${mostDimensions} names at the most, each of them once.`);
  }
  for (const [name, values] of [...by.map((name) => [name, []] as const), ...Object.entries(where)]) {
    if (!totalsDimensions.includes(name) && !name.startsWith(journalTagPrefix)) {
      throw new LedgerInputError(`by and where take ${totalsDimensions.join(", ")} and tags, not ${name}.`);
    }
    for (const text of [name, ...values]) checkText(text);
  }
}

/** Databases take such a text for another one, or for an error of theirs. */
function checkText(text: string | null): void {
  if (text !== null && (!text.isWellFormed() || text.includes("\0"))) {
    throw new LedgerInputError("by and where must be well-formed Unicode without NUL.");
  }
}

/** @throws LedgerInputError */
export function checkLease(lease: Lease): void {
  checkId(lease.id);
  checkAccount(lease.account);
}

/** @throws LedgerInputError */
export function checkAccount(account: string): void {
  checkName(account, "account", maxAccountLength);
}

/** @throws LedgerInputError */
export function checkLimits({ session, week, month }: WindowLimits): void {
  if (session.limitMicro !== null) checkAmount(session.limitMicro, "limits.session.limitMicro");
  if (week.limitMicro !== null) checkAmount(week.limitMicro, "limits.week.limitMicro");
  if (month.limitMicro !== null) checkAmount(month.limitMicro, "limits.month.limitMicro");
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

/** Checks the numbers of a lease, for a store that writes them down. @throws LedgerInputError */
export function checkLeaseTimes({
  amountMicro,
  expiresAt,
  starts,
  ends,
  prepaidAt = 0,
  prepaidMicro = 0,
  caps = [],
}: Lease): void {
  const areWhole =
    Number.isSafeInteger(amountMicro) &&
    Number.isSafeInteger(expiresAt) &&
    Number.isSafeInteger(prepaidAt) &&
    Number.isSafeInteger(prepaidMicro) &&
    areWholeTimes(starts) &&
    areWholeTimes(ends) &&
    caps.every(({ start, end }) => Number.isSafeInteger(start) && Number.isSafeInteger(end));
  if (areWhole) return;
  throw new LedgerInputError("lease must be as it was given out, with times in whole milliseconds.");
}

/** A ledger gets leases from its host, who may have lost a part of one. */
function areWholeTimes(times: Lease["starts"] | undefined): boolean {
  return (
    times !== undefined &&
    times !== null &&
    Number.isSafeInteger(times.session) &&
    Number.isSafeInteger(times.week) &&
    Number.isSafeInteger(times.month)
  );
}

/** Checks where weeks and months begin, for a store that writes it down. @throws LedgerInputError */
export function checkBounds({ week, month }: WindowLimits): void {
  if ([...week.bounds, ...month.bounds].every(Number.isSafeInteger)) return;
  throw new LedgerInputError("limits: bounds must be whole milliseconds.");
}
