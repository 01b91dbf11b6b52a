import { type Lease, LedgerConflictError, LedgerInputError } from "../../../ledger/credit-ledger.js";
import { type AccountLimits, type HeldLimits, prepaidOf } from "../../../ledger/rules/account-limits.js";
import { type Prepaid, tooManyLots } from "../../../ledger/rules/prepaid.js";
import type { AccountView } from "../../../ledger/rules/reservation.js";
import { outOfBounds, type WindowInstance } from "../../../ledger/rules/windows.js";

interface StoredInstance {
  starts_at: number;
  ends_at: number;
  used: number;
  held: number;
  bonus: number;
}

interface StoredCap extends Omit<StoredInstance, "bonus"> {
  id: string;
}

interface StoredBucket {
  id: string;
  level: number;
  at: number;
  held: number;
  per_minute: number;
  burst: number;
}

interface StoredPrepaid {
  expiries: readonly number[];
  amounts: readonly number[];
  held: number;
  overdrawn: number;
}

/** What a hold has beside the windows, or in their place. */
interface StoredPart extends Partial<Pick<HeldLimits, "prepaidAt" | "caps" | "takes">> {
  /** What it had of prepaid credits at its admission. */
  readonly prepaid?: number;
}

/**
 * What the schema's functions return for an operation: the account after it, and for a reservation what was reserved.
 */
export interface OperationReply {
  readonly status: string;
  /** The database's clock, in epoch milliseconds. */
  readonly now: number;
  readonly windows: readonly [StoredInstance, StoredInstance, StoredInstance];
  readonly lease?: {
    readonly amount: number;
    readonly expiresAt: number;
    readonly starts: readonly number[];
    readonly ends: readonly number[];
    readonly part?: StoredPart | null;
  } | null;
  readonly prepaid?: StoredPrepaid | null;
  /** What prepaid credits have paid for the reservation that the operation ends. */
  readonly paid?: number;
  /** Of those that the operation names, the ones that are known. */
  readonly caps?: readonly StoredCap[] | null;
  readonly buckets?: readonly StoredBucket[] | null;
}

/** @throws what the status stands for, when the operation was refused. */
export function requireDone(answer: OperationReply, { id, account, amountMicro, expiresAt }: Refusable): void {
  switch (answer.status) {
    case "clock":
      throw outOfBounds(answer.now);
    case "other_account":
      throw new LedgerConflictError(`${id} was used before with another account.`);
    case "other_amount":
      throw new LedgerConflictError(`${id} was used before with another amount.`);
    case "other_window":
      throw new LedgerConflictError(`${id} was granted to another window.`);
    case "other_expiry":
      throw new LedgerConflictError(`${id} was used with another expiry.`);
    case "past_expiry":
      throw new LedgerInputError(`expiresAt must be later than now, not ${expiresAt}.`);
    case "too_many_lots":
      throw tooManyLots();
    case "no_session":
      throw new LedgerInputError(`${account} has no open session to grant credits to.`);
    case "too_large":
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large on top of the rest.`);
  }
}

/** What a refusal's message has of the request. */
export interface Refusable {
  readonly id?: string;
  readonly account: string;
  readonly amountMicro?: number;
  readonly expiresAt?: number | null | undefined;
}

export function viewOf(answer: OperationReply): AccountView {
  const [session, week, month] = answer.windows;
  return {
    session: instanceOf(session),
    week: instanceOf(week),
    month: instanceOf(month),
    limits: limitsOf(answer),
  };
}

function limitsOf({ prepaid, caps, buckets }: OperationReply): AccountLimits | undefined {
  // Most accounts have none.
  if (!prepaid && !caps && !buckets) return undefined;
  return {
    prepaid: prepaid ? toPrepaid(prepaid) : undefined,
    caps: new Map(caps?.map((cap) => [cap.id, instanceOf({ ...cap, bonus: 0 })])),
    buckets: new Map(buckets?.map(({ id, per_minute, ...bucket }) => [id, { ...bucket, limit: per_minute }])),
  };
}

function toPrepaid({ expiries, amounts, held, overdrawn }: StoredPrepaid): Prepaid {
  const lots = expiries.map((expiresAt, index) => ({ expiresAt, left: amounts[index] ?? 0 }));
  return { lots, held, overdrawn };
}

/** What a reservation holds beside the windows; `undefined`: nothing, or it is not known any more. */
export function partOf({ part, amount: amountMicro }: NonNullable<OperationReply["lease"]>): HeldLimits | undefined {
  if (!part) return undefined;
  const { prepaidAt, prepaid, caps = [], takes = [] } = part;
  return { prepaidAt, prepaidMicro: prepaidOf({ amountMicro, prepaidAt, prepaidMicro: prepaid }), caps, takes };
}

function instanceOf({ starts_at, ends_at, used, held, bonus }: StoredInstance): WindowInstance {
  return { start: starts_at, end: ends_at, used, held, bonus };
}

export function byWindow(times: readonly number[]): Lease["starts"] {
  const [session, week, month] = times as readonly [number, number, number];
  return { session, week, month };
}
