import {
  type Instances,
  newInstance,
  type OpenInstances,
  outOfBounds,
  type WindowInstance,
} from "../ledger/account-state.js";
import { type Lease, LedgerConflictError, LedgerInputError, type ReserveRequest } from "../ledger/credit-ledger.js";
import type { AccountLimits } from "../ledger/limits/account-limits.js";
import type { HeldLimits } from "../ledger/limits/held-limits.js";
import { tooManyLots } from "../ledger/limits/prepaid.js";
import { toLease } from "../ledger/receipt.js";
import type { LeasedWindows } from "./batch/leased-windows.js";
import { type ReplyStatus, replyLengths } from "./batch/reply-lengths.js";

/** What a script returned of one operation: the numbers from `first` on, which begin with the status. */
export interface LedgerReply {
  readonly status: ReplyStatus;
  readonly numbers: Float64Array;
  readonly first: number;
  /** The first of the numbers of what the account has beside its windows. Absent: nothing that is asked for. */
  readonly firstOfLimits?: number;
}

type StoredInstance = { -readonly [Member in keyof WindowInstance]: WindowInstance[Member] };

const firstWindow = 2;
const windowLength = 5;
const firstOfLease = firstWindow + 3 * windowLength;

export function nowOf(reply: LedgerReply): number {
  return numberAt(reply, 1);
}

/** The windows that the script found open. */
export function openInstancesOf(reply: LedgerReply): OpenInstances {
  return { session: instanceAt(reply, 0), week: instanceAt(reply, 1), month: instanceAt(reply, 2) };
}

/**
 * The newest instance of each window, open or not, of the reply that was read last: nothing may keep them. They are used
 * again, since every operation reads them and copies what it needs.
 */
export class NewestInstances implements Instances {
  readonly session = newInstance(Number.NaN, Number.NaN);
  readonly week = newInstance(Number.NaN, Number.NaN);
  readonly month = newInstance(Number.NaN, Number.NaN);
  limits: AccountLimits | undefined;

  /** @param limits - what the account has beside them. */
  read(reply: LedgerReply, limits: AccountLimits | undefined): this {
    readInstance(reply, 0, this.session);
    readInstance(reply, 1, this.week);
    readInstance(reply, 2, this.month);
    this.limits = limits;
    return this;
  }
}

function readInstance({ numbers, first }: LedgerReply, index: number, into: StoredInstance): void {
  const at = first + firstWindow + windowLength * index;
  into.start = numbers[at] ?? Number.NaN;
  into.end = numbers[at + 1] ?? Number.NaN;
  into.used = numbers[at + 2] ?? Number.NaN;
  into.held = numbers[at + 3] ?? Number.NaN;
  into.bonus = numbers[at + 4] ?? Number.NaN;
}

/**
 * The lease that was admitted: where it has none of its own numbers, to the windows that are open, and now.
 * @param windows - of the account's leases.
 * @param part - what it holds beside the windows, as far as it is known.
 */
export function leaseOf(
  reply: LedgerReply,
  request: ReserveRequest,
  windows: LeasedWindows,
  part: HeldLimits | undefined,
): Lease {
  const { numbers, first } = reply;
  const isApart = replyLengths[reply.status] > firstOfLease;
  const expiresAt = isApart ? numberAt(reply, firstOfLease) : nowOf(reply) + request.leaseMs;
  const { starts, ends } = isApart
    ? windows.read(numbers, first + firstOfLease + 1, 2)
    : windows.read(numbers, first + firstWindow, windowLength);
  const { account, amountMicro } = request;
  return toLease(request, { account, amountMicro, expiresAt, starts, ends }, part);
}

/** The error that a status stands for, if it is one. */
export function errorOf(reply: LedgerReply, id: string, amount?: number): Error | undefined {
  switch (reply.status) {
    case "conflict":
      return conflictOf(id);
    case "tooLarge":
      return new LedgerInputError(`amountMicro ${amount} is too large on top of the rest.`);
    case "tooManyLots":
      return tooManyLots();
    case "tooEarly":
      return new LedgerInputError("expiresAt must be later than now.");
    case "noSession":
      return new LedgerInputError("The account has no open session to grant credits to.");
    case "missedBounds":
      return outOfBounds(nowOf(reply));
    default:
      return undefined;
  }
}

export function conflictOf(id: string): LedgerConflictError {
  return new LedgerConflictError(`${id} was used before with another amount, window or expiry.`);
}

/** The script returns a window that there is none of as one that began and ended before all others. */
function instanceAt(reply: LedgerReply, index: number): WindowInstance | undefined {
  const at = firstWindow + windowLength * index;
  const end = numberAt(reply, at + 1);
  if (end === Number.MIN_SAFE_INTEGER) return undefined;
  return {
    start: numberAt(reply, at),
    end,
    used: numberAt(reply, at + 2),
    held: numberAt(reply, at + 3),
    bonus: numberAt(reply, at + 4),
  };
}

function numberAt({ numbers, first }: LedgerReply, index: number): number {
  return numbers[first + index] ?? Number.NaN;
}
