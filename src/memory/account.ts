import {
  type AdmittedWindows,
  type AdmittingInstances,
  addHold,
  admit,
  type Instances,
  noInstances,
  raisedHold,
  withSession,
} from "../ledger/account-state.js";
import type { EntryTags, Lease, WindowLimits } from "../ledger/credit-ledger.js";
import {
  type AccountLimits,
  copyLimits,
  endHold,
  type LeaseEnding,
  pruneLimits,
  raiseLimits,
} from "../ledger/limits/account-limits.js";
import { type HeldLimits, heldOfPrepaid, usesAtExpiry } from "../ledger/limits/held-limits.js";
import type { AccountView } from "../ledger/limits/limit-states.js";
import { noUses } from "../ledger/limits/no-uses.js";
import type { RateUse } from "../ledger/rate-limit.js";
import type { Receipt } from "../ledger/receipt.js";
import type { Micro } from "../metering/micro.js";

/** An open reservation. */
export interface Hold {
  readonly id: string;
  readonly account: Account;
  readonly receipt: Receipt;
  /** The amount that is held now: the reserved amount, or the cost so far if that is more. */
  amount: Micro;
  /** The cost so far. If the process dies, this is charged. */
  checkpoint: Micro;
  expiresAt: number;
  /** Its index among the account's holds. */
  index: number;
  /** Those of its admission. */
  readonly limits: WindowLimits;
  /** What it holds beside the windows, or in their place. */
  readonly part: HeldLimits | undefined;
  /** What its renewals have reported of its rates. */
  uses: readonly RateUse[];
  /** What they have said of the call. */
  tags?: EntryTags;
}

const never = Number.POSITIVE_INFINITY;

/** A hold whose lease has expired. */
export interface EndedExpired {
  readonly hold: Hold;
  /** What prepaid credits paid of its checkpoint. */
  readonly paid: Micro;
}

const noneEnded: readonly EndedExpired[] = [];
/** Nothing is added to it: an account's first hold makes a list of its own. */
const noHolds: Hold[] = [];

/** An account of the memory ledger: the newest instance of each window, and the open reservations. */
export class Account implements AccountView {
  readonly id: string;
  session = noInstances.session;
  week = noInstances.week;
  month = noInstances.month;
  #holds: Hold[] = noHolds;
  /** No hold expires earlier than this. It may lie before the earliest expiry, since that hold may be gone. */
  #earliestExpiry = never;
  #admission: AdmittedWindows | undefined;
  /** Prepaid credits, caps and rates; most accounts have none. */
  limits: AccountLimits | undefined;
  /** The account was forgotten. The same id later means another account. */
  isForgotten = false;
  /** An open call that may need prepaid credits that have expired, if one was found. */
  neededBy: Hold | undefined;

  constructor(id: string) {
    this.id = id;
  }

  get holds(): readonly Hold[] {
    return this.#holds;
  }

  /** Whether no window is open and nothing is held. Then the account can be dropped. */
  isOver(now: number): boolean {
    const { session, week, month } = this;
    const isOver = this.#holds.length === 0 && session.end <= now && week.end <= now && month.end <= now;
    return this.limits === undefined ? isOver : pruneLimits(this.limits, now) && isOver;
  }

  /**
   * Stores the instances that are open at `now`. Where no session is open, a new one is stored if something counts in
   * it.
   */
  admit(open: AdmittingInstances, limits: WindowLimits, amount: Micro, now: number): AdmittedWindows {
    const admitted = withSession(open, limits, now);
    admit(this, admitted, amount);
    return this.windowsOf(admitted);
  }

  /** The instances as leases have them. Stores nothing. */
  windowsOf(admitted: Instances): AdmittedWindows {
    this.#admission = sharedAdmission(this.#admission, admitted);
    return this.#admission;
  }

  hold({ id, limits }: Pick<Lease, "id" | "limits">, receipt: Receipt, part: HeldLimits | undefined): Hold {
    const { amountMicro, expiresAt } = receipt;
    const hold: Hold = {
      id,
      account: this,
      receipt,
      amount: amountMicro,
      checkpoint: 0,
      expiresAt,
      index: this.#holds.length,
      limits,
      part,
      uses: noUses,
    };
    // An empty list that grows takes room for 17.
    if (hold.index === 0) this.#holds = [hold];
    else this.#holds.push(hold);
    if (expiresAt < this.#earliestExpiry) this.#earliestExpiry = expiresAt;
    addHold(this, receipt, amountMicro - heldOfPrepaid(amountMicro, amountMicro, part));
    return hold;
  }

  /** Ends a hold and charges its cost. @returns what prepaid credits pay of it. */
  end(hold: Hold, { charge, uses }: Pick<LeaseEnding, "charge" | "uses">, now: number): Micro {
    const last = this.#holds.pop();
    if (last && last !== hold) {
      this.#holds[hold.index] = last;
      last.index = hold.index;
    }
    if (this.neededBy === hold) this.neededBy = undefined;
    return endHold(this, hold, { held: hold.amount, charge, uses, paid: 0 }, now);
  }

  /** Raises a hold to a larger cost. */
  raise(hold: Hold, observed: Micro): void {
    const raised = raisedHold(this, hold.amount, observed);
    const rise = raised - hold.amount;
    if (rise === 0) return;
    const { receipt, part } = hold;
    if (part === undefined || part.prepaidMicro === 0) addHold(this, receipt, rise);
    if (part !== undefined && this.limits !== undefined) raiseLimits(this.limits, part, rise);
    hold.amount = raised;
  }

  /** Whether a hold has expired and not ended yet. */
  hasExpired(now: number): boolean {
    return now >= this.#earliestExpiry && this.#holds.some(({ expiresAt }) => expiresAt <= now);
  }

  /** Ends the holds that have expired, charging their checkpoints, and returns them with what prepaid credits paid. */
  endExpired(now: number): readonly EndedExpired[] {
    if (now < this.#earliestExpiry) return noneEnded;
    const expired = this.#holds.filter((hold) => hold.expiresAt <= now).sort(byExpiry);
    const ended = expired.map((hold) => ({ hold, paid: this.end(hold, expiryOf(hold), now) }));
    this.#earliestExpiry = this.#holds.reduce((earliest, hold) => Math.min(earliest, hold.expiresAt), never);
    return ended;
  }

  /** The account after the end of the expired holds. Changes nothing. */
  withoutExpired(now: number): AccountView {
    if (now < this.#earliestExpiry) return this;
    const { session, week, month, limits } = this;
    const copy = {
      ...{ session: { ...session }, week: { ...week }, month: { ...month } },
      limits: limits && copyLimits(limits),
    };
    const expired = this.#holds.filter((hold) => hold.expiresAt <= now).sort(byExpiry);
    for (const hold of expired) endHold(copy, hold, expiryOf(hold), now);
    return copy;
  }
}

/** What an expiry does to a hold. */
function expiryOf({ amount, part, uses, checkpoint }: Hold): LeaseEnding {
  return { held: amount, charge: checkpoint, paid: 0, uses: part === undefined ? noUses : usesAtExpiry(part, uses) };
}

/** In the order of expiry. The order matters when one of them closes a session in which another one is charged. */
function byExpiry(left: Hold, right: Hold): number {
  return left.expiresAt - right.expiresAt || (left.id < right.id ? -1 : 1);
}

/** Returns the earlier object if the windows are the same, as they usually are. Leases share it, which saves memory. */
function sharedAdmission(earlier: AdmittedWindows | undefined, { session, week, month }: Instances): AdmittedWindows {
  if (
    earlier &&
    earlier.starts.session === session.start &&
    earlier.starts.week === week.start &&
    earlier.starts.month === month.start &&
    // Within an account, its start identifies a week or month. A session can open twice in a millisecond.
    earlier.ends.session === session.end
  ) {
    return earlier;
  }
  return {
    starts: Object.freeze({ session: session.start, week: week.start, month: month.start }),
    ends: Object.freeze({ session: session.end, week: week.end, month: month.end }),
  };
}
