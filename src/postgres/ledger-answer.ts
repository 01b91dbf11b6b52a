import { type Instances, outOfBounds, type WindowInstance } from "../ledger/account-state.js";
import { type Lease, LedgerConflictError, LedgerInputError } from "../ledger/credit-ledger.js";
import { storedWindows } from "./ledger-operation.js";

interface StoredInstance {
  starts_at: number;
  ends_at: number;
  used: number;
  held: number;
  bonus: number;
}

/**
 * What the schema's functions return for an operation: the account after it, and for a reservation what was reserved.
 */
export interface LedgerAnswer {
  readonly status: string;
  /** The database's clock, in epoch milliseconds. */
  readonly now: number;
  readonly windows: readonly [StoredInstance, StoredInstance, StoredInstance];
  readonly lease?: {
    readonly amount: number;
    readonly expiresAt: number;
    readonly starts: readonly number[];
    readonly ends: readonly number[];
  } | null;
}

/** @throws what the status stands for, when the operation was refused. */
export function requireDone(answer: LedgerAnswer, { id, account, amountMicro }: Refusable): void {
  switch (answer.status) {
    case "clock":
      throw outOfBounds(answer.now);
    case "other_account":
      throw new LedgerConflictError(`${id} was used before with another account.`);
    case "other_amount":
      throw new LedgerConflictError(`${id} was used before with another amount.`);
    case "other_window":
      throw new LedgerConflictError(`${id} was granted to another window.`);
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
}

export function instancesOf({ windows: [session, week, month] }: LedgerAnswer): Instances {
  return { session: instanceOf(session), week: instanceOf(week), month: instanceOf(month) };
}

function instanceOf({ starts_at, ends_at, used, held, bonus }: StoredInstance): WindowInstance {
  return { start: starts_at, end: ends_at, used, held, bonus };
}

export function byWindow(times: readonly number[]): Lease["starts"] {
  return Object.fromEntries(storedWindows.map((window, index) => [window, times[index]])) as Lease["starts"];
}
