import { type OpenInstances, type WindowInstance, windowStates } from "../ledger/account-state.js";
import {
  type Lease,
  LedgerClockError,
  LedgerConflictError,
  LedgerInputError,
  type ReserveRequest,
  type WindowLimits,
  type WindowStates,
} from "../ledger/credit-ledger.js";

/** What a script answers: a status, the store's now, and the numbers of the three windows, session first. */
export type LedgerReply = readonly [status: unknown, ...rest: unknown[]];

const firstWindow = 2;
const windowLength = 5;
const firstOfLease = firstWindow + 3 * windowLength;

export function statusOf(reply: LedgerReply): string {
  return String(reply[0]);
}

export function nowOf(reply: LedgerReply): number {
  return Number(reply[1]);
}

/** The windows that are open; none of those that the script left out. */
export function openInstancesOf(reply: LedgerReply): OpenInstances {
  return { session: instanceAt(reply, 0), week: instanceAt(reply, 1), month: instanceAt(reply, 2) };
}

export function windowStatesOf(reply: LedgerReply, limits: WindowLimits): WindowStates {
  return windowStates(openInstancesOf(reply), limits);
}

export function leaseOf(reply: LedgerReply, { id, subject, amount, limits }: ReserveRequest): Lease {
  const [expiresAt, ...spans] = reply.slice(firstOfLease).map(Number);
  const [sessionStart, sessionEnd, weekStart, weekEnd, monthStart, monthEnd] = spans;
  return {
    id,
    subject,
    amount,
    expiresAt: expiresAt as number,
    starts: { session: sessionStart as number, week: weekStart as number, month: monthStart as number },
    ends: { session: sessionEnd as number, week: weekEnd as number, month: monthEnd as number },
    limits,
  };
}

/** The error that a status stands for, if it is one. */
export function errorOf(reply: LedgerReply, id: string, amount?: number): Error | undefined {
  switch (statusOf(reply)) {
    case "conflict":
      return new LedgerConflictError(`${id} was used before with another amount or window.`);
    case "too large":
      return new LedgerInputError(`amount ${amount} is too large on top of the rest.`);
    case "no session":
      return new LedgerInputError("The account has no open session to grant credits to.");
    case "missed bounds":
      return new LedgerClockError(
        `The ledger's clock (${new Date(nowOf(reply)).toISOString()}) is outside the caller's ${String(reply[2])} bounds.`,
      );
    default:
      return undefined;
  }
}

function instanceAt(reply: LedgerReply, index: number): WindowInstance | undefined {
  const at = firstWindow + windowLength * index;
  if (reply[at] === null || reply[at] === undefined) return undefined;
  const [start, end, used, held, bonus] = reply.slice(at, at + windowLength).map(Number);
  return {
    start: start as number,
    end: end as number,
    used: used as number,
    held: held as number,
    bonus: bonus as number,
  };
}
