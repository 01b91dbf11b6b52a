import { idProblem } from "../../../check/id-problem.js";
import {
  type EntryTags,
  type GrantRequest,
  type Lease,
  LedgerInputError,
  type RenewRequest,
  type ReserveRequest,
  type Settlement,
  type WindowLimits,
  type WindowName,
} from "../../../ledger/credit-ledger.js";
import { authorTags } from "../../../ledger/journal.js";
import {
  checkAccount,
  checkBounds,
  checkDeduct,
  checkGrant,
  checkLease,
  checkLeaseTimes,
  checkRenew,
  checkReserve,
  checkSettle,
  checkTopUp,
  checkUses,
} from "../../../ledger/ledger-input.js";
import type { DeductRequest, RateUse, TopUpRequest } from "../../../ledger/limits.js";
import { type NamedLimits, partOfLease } from "../../../ledger/rules/account-limits.js";
import { neverExpires } from "../../../ledger/rules/prepaid.js";
import { neededMicro } from "../../../ledger/rules/reservation.js";

/** An operation on an account as the function `operate` of the schema takes it. */
export interface LedgerOperation {
  readonly op: "reserve" | "settle" | "renew" | "grant" | "reset" | "topup" | "deduct";
  readonly [member: string]: unknown;
}

/** The order in which arrays of the schema hold the windows; the first has the number 1 there. */
export const storedWindows: readonly WindowName[] = ["session", "week", "month"];

export function reserveOperation(request: ReserveRequest): LedgerOperation {
  checkReserve(request);
  const { id, amountMicro, limits, leaseMs } = request;
  const operation = { id, amount: amountMicro, need: neededMicro(request), leaseMs, limits: limitsArray(limits) };
  return { op: "reserve", ...operation, named: namedLimits(request) };
}

export function renewOperation(request: RenewRequest): LedgerOperation {
  checkRenew(request);
  const { lease, observedMicro, leaseMs, tags } = request;
  const operation = { id: lease.id, amount: lease.amountMicro, observed: observedMicro, leaseMs, tags };
  return { op: "renew", ...operation, uses: request.rates && usesById(request.rates) };
}

/** @param kind - how the journal calls it. */
export function settleOperation(lease: Lease, settlement: Settlement, kind: "charge" | "release"): LedgerOperation {
  checkSettle(lease, settlement);
  checkLeaseTimes(lease);
  const { id, amountMicro, expiresAt } = lease;
  const starts = storedWindows.map((window) => lease.starts?.[window]);
  const ends = storedWindows.map((window) => lease.ends?.[window]);
  const limits = storedWindows.map((window) => lease.limits?.[window]?.limitMicro);
  if (!limits.every((limit) => limit === null || Number.isSafeInteger(limit))) {
    throw new LedgerInputError("lease must be as it was given out: a limit is not valid.");
  }
  const part = partOfLease(lease);
  if (part?.caps.some(({ id }) => idProblem(id) !== undefined)) {
    throw new LedgerInputError("lease must be as it was given out: a cap's id is not valid.");
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
    limits,
    part: part && {
      prepaidAt: part.prepaidAt,
      prepaid: part.prepaidAt === undefined ? undefined : part.prepaidMicro,
      caps: part.caps.map(({ id, start, end }) => ({ id, start, end })),
    },
    uses: settlement.rates && usesById(settlement.rates),
    named: namedIds(lease),
  };
}

export function releaseOperation(lease: Lease, rates: readonly RateUse[]): LedgerOperation {
  checkLease(lease);
  checkUses(rates);
  return settleOperation(lease, { amountMicro: 0, rates }, "release");
}

export function grantOperation(request: GrantRequest): LedgerOperation {
  checkGrant(request);
  const { id, window, amountMicro, limits } = request;
  const tags = storable(authorTags(request));
  return { op: "grant", id, window: windowNumber(window), amount: amountMicro, limits: limitsArray(limits), tags };
}

export function topUpOperation(request: TopUpRequest): LedgerOperation {
  checkTopUp(request);
  const { id, amountMicro, expiresAt } = request;
  const tags = storable(authorTags(request));
  return { op: "topup", id, amount: amountMicro, expiresAt: expiresAt ?? neverExpires, tags };
}

export function deductOperation(request: DeductRequest): LedgerOperation {
  checkDeduct(request);
  const { id, amountMicro } = request;
  return { op: "deduct", id, amount: amountMicro, tags: storable(authorTags(request)) };
}

/** The caps and rates of an operation, if it names any. */
export function namedLimits({ caps, rates }: NamedLimits): object | undefined {
  if (caps === undefined && rates === undefined) return undefined;
  if (!caps?.every(({ bounds }) => bounds.every(Number.isSafeInteger)) && caps !== undefined) {
    throw new LedgerInputError("caps: bounds must be whole milliseconds.");
  }
  return {
    caps: caps?.map(({ id, limitMicro, bounds }) => ({ id, limit: limitMicro, bounds })),
    rates: rates?.map(({ id, kind, take, limit, burst }) => ({ id, kind, take, limit, burst })),
  };
}

/** The caps and rates whose states the end of a lease shows. */
function namedIds({ caps, rates }: Lease): object | undefined {
  if (caps === undefined && rates === undefined) return undefined;
  return { caps: caps?.map(({ id }) => ({ id })), rates: rates?.map(({ id }) => ({ id })) };
}

/** The first use of each rate. What is no id names none. */
function usesById(uses: readonly RateUse[]): Readonly<Record<string, number>> {
  const known = uses.filter(({ id }) => idProblem(id) === undefined);
  return Object.fromEntries(known.reverse().map(({ id, actual }) => [id, actual]));
}

export function resetOperation(account: string, windows: readonly WindowName[]): LedgerOperation {
  checkAccount(account);
  return { op: "reset", windows: windows.map(windowNumber) };
}

function windowNumber(window: WindowName): number {
  return storedWindows.indexOf(window) + 1;
}

function limitsArray(limits: WindowLimits): (number | null)[] {
  checkBounds(limits);
  const { session, week, month } = limits;
  return [session.limitMicro, session.lengthMs, week.limitMicro, ...week.bounds, month.limitMicro, ...month.bounds];
}

/** Tags with nothing in them that PostgreSQL refuses: no charge may be lost for how it is filed. */
function storable(tags: EntryTags | undefined): EntryTags | undefined {
  if (tags === undefined) return undefined;
  const entries = Object.entries(tags).filter(([, value]) => typeof value === "string" || Number.isFinite(value));
  return Object.fromEntries(
    entries.map(([name, value]) => [clean(name), typeof value === "string" ? clean(value) : value]),
  );
}

/** PostgreSQL's text has no NUL, and its UTF-8 no halves of surrogate pairs. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
