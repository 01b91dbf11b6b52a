import type { Micro } from "../../prices/micro.js";
import type { LedgerEntry } from "../credit-ledger.js";
import type { AccountStatement, StatementRequest } from "../usage/usage-request.js";
import type { Prepaid } from "./prepaid.js";

/** The tag of an `expiry` entry that says when the prepaid credits ended. */
export const endedAtTag = "endedAt";

/** Before the first moment that any journal can have. */
const earliest = Number.MIN_SAFE_INTEGER;

/** What a statement needs to know of an account beside its journal, all of one moment. */
export interface StatementState {
  readonly now: number;
  /** Whatever was written at this moment or later is in the journal. `undefined`: so is what was written before. */
  readonly keptFrom: number | undefined;
  /** `undefined`: the account has never had any. */
  readonly prepaid: Pick<Prepaid, "lots" | "overdrawn"> | undefined;
}

/** Where something stands: in the time of the statement, or after it. */
export type StatementPlace = "within" | "after";

type Booked = Pick<LedgerEntry, "kind" | "amountMicro" | "prepaidMicro">;

/**
 * Makes a statement of an account's journal, and of what is left now: the balance at the end of its time is what is left
 * less what came after it. So the journal need not go back to the account's beginning.
 */
export class StatementBooks {
  /** The time that is to be booked. The journal that is before it is not needed. */
  readonly from: number;
  readonly to: number;
  readonly #state: StatementState;
  readonly #end: number;
  #bought = 0;
  #used = 0;
  #expired = 0;
  #takenBack = 0;
  #ofPlan = 0;
  #granted = 0;
  /** What came after the time, in all. */
  #later = 0;

  constructor({ from, to }: StatementRequest, state: StatementState) {
    this.#state = state;
    // What is of this very millisecond is in the balance.
    this.#end = Math.min(to ?? Number.MAX_SAFE_INTEGER, state.now + 1);
    this.to = to ?? Number.MAX_SAFE_INTEGER;
    this.from = Math.min(Math.max(from ?? earliest, state.keptFrom ?? earliest), this.to);
  }

  /** Adds an entry of the journal, in any order. */
  add(entry: LedgerEntry): void {
    const place = this.placeOf(momentOf(entry));
    if (place !== undefined) this.book(place, entry);
  }

  /** `undefined`: before the time of the statement. */
  placeOf(moment: number): StatementPlace | undefined {
    if (moment >= this.to) return "after";
    return moment >= this.from ? "within" : undefined;
  }

  /** Adds one entry, or the sum of several of a kind. */
  book(place: StatementPlace, { kind, amountMicro, prepaidMicro = 0 }: Booked): void {
    if (place === "after") {
      this.#later += changeOf({ kind, amountMicro, prepaidMicro });
      return;
    }
    switch (kind) {
      case "charge":
      case "checkpoint":
      case "release":
        this.#used += prepaidMicro;
        this.#ofPlan += amountMicro - prepaidMicro;
        break;
      case "topup":
        this.#bought += amountMicro;
        break;
      case "deduction":
        this.#takenBack -= amountMicro;
        break;
      case "expiry":
        this.#expired -= amountMicro;
        break;
      case "grant":
        this.#granted += amountMicro;
    }
  }

  statement(): AccountStatement {
    const { lots, overdrawn } = this.#state.prepaid ?? { lots: [], overdrawn: 0 };
    let closing = 0 - overdrawn - this.#later;
    let expired = this.#expired;
    for (const { expiresAt, left } of lots) {
      // It has ended, though no entry says so yet: an open call may need it.
      const isOver = expiresAt < this.#end;
      if (!isOver) closing += left;
      else if (expiresAt >= this.from) expired += left;
    }
    const change = this.#bought - this.#used - expired - this.#takenBack;
    return {
      from: this.from === earliest ? null : this.from,
      to: this.#end,
      prepaid: {
        openingMicro: closing - change,
        boughtMicro: this.#bought,
        usedMicro: this.#used,
        expiredMicro: expired,
        takenBackMicro: this.#takenBack,
        closingMicro: closing,
      },
      plan: { usedMicro: this.#ofPlan, grantedMicro: this.#granted },
    };
  }
}

/** When something came about: prepaid credits end at a moment that an operation notices later only. */
function momentOf({ kind, at, tags }: LedgerEntry): number {
  const endedAt = kind === "expiry" ? tags[endedAtTag] : undefined;
  return typeof endedAt === "number" ? endedAt : at;
}

/** By how much an entry changes the balance of prepaid credits. */
function changeOf({ kind, amountMicro, prepaidMicro = 0 }: Booked): Micro {
  switch (kind) {
    case "topup":
    case "deduction":
    case "expiry":
      return amountMicro;
    case "charge":
    case "checkpoint":
    case "release":
      return 0 - prepaidMicro;
    default:
      return 0;
  }
}
