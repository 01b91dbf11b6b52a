import type { AccountCredits, ReserveResult, WindowState, WindowStates } from "../ledger/credit-ledger.js";
import { LiveStates } from "../ledger/window-states.js";
import type { Micro } from "../prices/micro.js";

/** Calls hold more than they need only while all that is held stays below this part of what is left. */
const part = 1 / 16;

/**
 * How much of an account's credits calls may hold by bounds that are far too high, so that their prompts need not be
 * counted. It follows what the last reservation has shown. Each process has one for each account, so several processes may
 * each hold as much.
 */
export class HoldRoom {
  #micro: Micro = 0;
  /** What reservations hold that a ledger elsewhere has not answered yet. */
  #underWay: Micro = 0;
  #isOut = false;

  /** Whether the last reservation was denied, so that the next one may be, too. */
  get isOut(): boolean {
    return this.#isOut;
  }

  /** Takes the amount of a hold. @returns whether there is room for it. */
  take(micro: Micro): boolean {
    if (micro > this.#micro) return false;
    this.#micro -= micro;
    return true;
  }

  /** A reservation of so much is on its way to a ledger that does not answer at once. */
  depart(micro: Micro): void {
    this.#underWay += micro;
  }

  /** It was answered, or has failed. */
  arrive(micro: Micro): void {
    this.#underWay -= micro;
  }

  /** Of an account with prepaid credits, windows alone do not say what is left. */
  learn({ ok = true, windows, prepaid }: AccountCredits & Partial<Pick<ReserveResult, "ok">>): void {
    this.#isOut = !ok;
    this.#micro = (prepaid === undefined ? roomIn(windows) : 0) - this.#underWay;
  }
}

const mostAccounts = 10_000;

/** The {@link HoldRoom} of each account: all its keys and models share it, as they share its credits. */
export class HoldRooms {
  readonly #byAccount = new Map<string, HoldRoom>();

  of(account: string): HoldRoom {
    const known = this.#byAccount.get(account);
    if (known !== undefined) return known;
    // An account that is forgotten has its next prompt counted.
    if (this.#byAccount.size >= mostAccounts) this.#byAccount.clear();
    const room = new HoldRoom();
    this.#byAccount.set(account, room);
    return room;
  }
}

function roomIn(windows: WindowStates): Micro {
  if (windows instanceof LiveStates) return windows.least(roomOf);
  const { session, week, month } = windows;
  return Math.min(roomInWindow(session), roomInWindow(week), roomInWindow(month));
}

function roomInWindow({ limitMicro, bonusMicro, usedMicro, heldMicro }: WindowState): Micro {
  return limitMicro === null ? Number.POSITIVE_INFINITY : roomOf(limitMicro + bonusMicro - usedMicro, heldMicro);
}

function roomOf(left: Micro, held: Micro): Micro {
  return left * part - held;
}
