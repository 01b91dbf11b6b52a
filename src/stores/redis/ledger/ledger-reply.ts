import {
  type Lease,
  LedgerConflictError,
  LedgerInputError,
  type ReserveRequest,
} from "../../../ledger/credit-ledger.js";
import { type AccountLimits, type HeldLimits, newAccountLimits } from "../../../ledger/rules/account-limits.js";
import { tooManyLots } from "../../../ledger/rules/prepaid.js";
import { toLease } from "../../../ledger/rules/reservation.js";
import {
  type Instances,
  newInstance,
  type OpenInstances,
  outOfBounds,
  type WindowInstance,
} from "../../../ledger/rules/windows.js";
import type { Micro } from "../../../prices/micro.js";
import { type ReplyStatus, replyLengths, replyStatuses } from "../lua/replies.js";
import type { LeasedWindows } from "./recent-accounts.js";

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

/** The ids of caps and rates that an operation names, in the order in which it sends them. */
interface NamedIds {
  readonly caps?: readonly { readonly id: string }[] | undefined;
  readonly rates?: readonly { readonly id: string }[] | undefined;
}

/** What a script returned of an account beside its windows. */
interface LimitsReply {
  readonly limits: AccountLimits;
  /** Of the lease that is returned: what it holds of them, as far as it is known. */
  readonly part: HeldLimits | undefined;
  /** Of a settlement: what prepaid credits have paid for its id in all. */
  readonly prepaidMicro: Micro;
}

const never = Number.MIN_SAFE_INTEGER;
const noTakes: HeldLimits["takes"] = [];

/** @returns `undefined`: the account has none of it, and the operation names none. */
export function limitsOf(reply: LedgerReply, named: NamedIds): LimitsReply | undefined {
  const { numbers, firstOfLimits } = reply;
  return firstOfLimits === undefined ? undefined : readLimits(numbers, firstOfLimits, named);
}

function readLimits(numbers: Float64Array, first: number, { caps = [], rates = [] }: NamedIds): LimitsReply {
  let place = first;
  const next = () => numbers[place++] ?? Number.NaN;
  const [lotCount, held, overdrawn] = [next(), next(), next()];
  const lots = Array.from({ length: Math.max(0, lotCount) }, () => ({ expiresAt: next(), left: next() }));
  const prepaid = lotCount < 0 ? undefined : { lots, held, overdrawn };
  const limits: AccountLimits = { ...newAccountLimits(), prepaid };
  const [hasPart, prepaidAt, prepaidMicro] = [next() === 1, next(), next()];
  const leased: { id: string; start: number; end: number }[] = [];
  for (const { id } of caps) {
    const cap = { start: next(), end: next(), used: next(), held: next(), bonus: 0 };
    if (cap.start !== never) limits.caps.set(id, cap);
    const [start, end] = [next(), next()];
    if (start !== never) leased.push({ id, start, end });
  }
  for (const { id } of rates) {
    const bucket = { level: next(), at: next(), held: next(), limit: next(), burst: next() };
    if (bucket.limit !== -1) limits.buckets.set(id, bucket);
  }
  if (!hasPart) return { limits, part: undefined, prepaidMicro };
  const part = { prepaidAt: prepaidAt === never ? undefined : prepaidAt, prepaidMicro, caps: leased, takes: noTakes };
  return { limits, part, prepaidMicro: 0 };
}

const bytesOfNumber = 8;

/** The replies to all operations of a script, in their order. */
export function decodeReplies(packed: unknown): LedgerReply[] {
  const numbers = packed instanceof Uint8Array ? fromBytes(packed) : fromText(String(packed));
  const replies: LedgerReply[] = [];
  let firstOfLimits: number | undefined;
  for (let first = 0; first < numbers.length; ) {
    const status = replyStatuses[numbers[first] ?? Number.NaN];
    if (status === "limits") {
      firstOfLimits = first + replyLengths.limits;
      first = firstOfLimits + (numbers[first + 1] ?? Number.NaN);
      continue;
    }
    if (status === undefined) throw new Error(`Redis returned ${numbers[first]} where a status was expected.`);
    replies.push(firstOfLimits === undefined ? { status, numbers, first } : { status, numbers, first, firstOfLimits });
    firstOfLimits = undefined;
    first += replyLengths[status];
  }
  return replies;
}

function fromBytes(bytes: Uint8Array): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = new Float64Array(bytes.byteLength / bytesOfNumber);
  for (let index = 0; index < numbers.length; index++) {
    numbers[index] = view.getFloat64(index * bytesOfNumber, true);
  }
  return numbers;
}

/** A comma follows each number. */
function fromText(text: string): Float64Array {
  return Float64Array.from(text.split(",").slice(0, -1), Number);
}
