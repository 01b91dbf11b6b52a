import {
  type Instances,
  noInstances,
  type OpenInstances,
  outOfBounds,
  type WindowInstance,
} from "../ledger/account-state.js";
import { type Lease, LedgerConflictError, LedgerInputError, type ReserveRequest } from "../ledger/credit-ledger.js";

/** What a script returns: a status, the store's now, and the numbers of the three windows, session first. */
export type LedgerReply = readonly [status: unknown, ...rest: unknown[]];

interface Span {
  start: number;
  end: number;
}

const firstWindow = 2;
const windowLength = 5;
const firstOfLease = firstWindow + 3 * windowLength;

export function statusOf(reply: LedgerReply): string {
  return String(reply[0]);
}

export function nowOf(reply: LedgerReply): number {
  return Number(reply[1]);
}

/** The windows that the script found open. */
export function openInstancesOf(reply: LedgerReply): OpenInstances {
  return { session: instanceAt(reply, 0), week: instanceAt(reply, 1), month: instanceAt(reply, 2) };
}

/** The newest instance of each window, open or not. */
export function newestInstancesOf(reply: LedgerReply): Instances {
  const { session = noInstances.session, week = noInstances.week, month = noInstances.month } = openInstancesOf(reply);
  return { session, week, month };
}

/** The lease that was admitted: where it has none of its own numbers, to the windows that are open, and now. */
export function leaseOf(reply: LedgerReply, { id, account, amountMicro, limits, leaseMs }: ReserveRequest): Lease {
  const isApart = reply.length > firstOfLease;
  const expiresAt = isApart ? Number(reply[firstOfLease]) : nowOf(reply) + leaseMs;
  const [session, week, month] = [0, 1, 2].map((index) => {
    const at = isApart ? firstOfLease + 1 + 2 * index : firstWindow + windowLength * index;
    return { start: Number(reply[at]), end: Number(reply[at + 1]) };
  }) as [Span, Span, Span];
  return {
    id,
    account,
    amountMicro,
    expiresAt,
    starts: { session: session.start, week: week.start, month: month.start },
    ends: { session: session.end, week: week.end, month: month.end },
    limits,
  };
}

/** The error that a status stands for, if it is one. */
export function errorOf(reply: LedgerReply, id: string, amount?: number): Error | undefined {
  switch (statusOf(reply)) {
    case "conflict":
      return new LedgerConflictError(`${id} was used before with another amount or window.`);
    case "too large":
      return new LedgerInputError(`amountMicro ${amount} is too large on top of the rest.`);
    case "no session":
      return new LedgerInputError("The account has no open session to grant credits to.");
    case "missed bounds":
      return outOfBounds(nowOf(reply));
    default:
      return undefined;
  }
}

function instanceAt(reply: LedgerReply, index: number): WindowInstance | undefined {
  const at = firstWindow + windowLength * index;
  if (reply[at] === null || reply[at] === undefined) return undefined;
  return {
    start: Number(reply[at]),
    end: Number(reply[at + 1]),
    used: Number(reply[at + 2]),
    held: Number(reply[at + 3]),
    bonus: Number(reply[at + 4]),
  };
}
