import type { Micro } from "../../prices/micro.js";
import { LedgerInputError } from "../credit-ledger.js";
import type { PrepaidState } from "../limits.js";
import { noFunds, type PrepaidFunds } from "./windows.js";

/** When a lot ends that never expires. */
export const neverExpires = Number.MAX_SAFE_INTEGER;

export const mostLots = 100;

interface Lot {
  readonly expiresAt: number;
  left: Micro;
}

/**
 * The prepaid credits of an account: its lots, the first to expire first, what open calls hold, and what is overdrawn. An
 * account that has had some keeps an empty one.
 */
export interface Prepaid {
  readonly lots: Lot[];
  held: Micro;
  overdrawn: Micro;
}

export function newPrepaid(): Prepaid {
  return { lots: [], held: 0, overdrawn: 0 };
}

/** What is left of the lots that have not expired, less what is overdrawn. */
export function balanceOf({ lots, overdrawn }: Prepaid, now: number): Micro {
  return lots.reduce((sum, { expiresAt, left }) => (now < expiresAt ? sum + left : sum), 0 - overdrawn);
}

/** What they add to what the plan has left. */
export function fundsOf(prepaid: Prepaid | undefined, now: number): PrepaidFunds {
  return prepaid === undefined ? noFunds : { balance: Math.max(0, balanceOf(prepaid, now)), held: prepaid.held };
}

/** @throws LedgerInputError when there are too many lots, or the sum is too large. */
export function addTopUp(prepaid: Prepaid, amount: Micro, expiresAt: number): void {
  const sum = prepaid.lots.reduce((all, { left }) => all + left, amount);
  if (!Number.isSafeInteger(sum)) throw new LedgerInputError(`amountMicro ${amount} is too large on top of the rest.`);
  const paid = Math.min(prepaid.overdrawn, amount);
  if (amount > paid) addToLot(prepaid, amount - paid, expiresAt);
  prepaid.overdrawn -= paid;
}

function addToLot({ lots }: Prepaid, amount: Micro, expiresAt: number): void {
  const index = lots.findIndex((lot) => lot.expiresAt >= expiresAt);
  const lot = lots[index];
  if (lot?.expiresAt === expiresAt) {
    lot.left += amount;
    return;
  }
  if (lots.length >= mostLots) throw tooManyLots();
  lots.splice(index < 0 ? lots.length : index, 0, { expiresAt, left: amount });
}

export function tooManyLots(): LedgerInputError {
  return new LedgerInputError(
    `An account has ${mostLots} different moments of expiry at the most. Round expiresAt, such as to the end of a day.`,
  );
}

/**
 * Charges what a call cost that was admitted at `admittedAt`: it can use lots that have expired since. A negative charge
 * gives back.
 */
export function chargePrepaid(prepaid: Prepaid, charge: Micro, admittedAt: number): void {
  if (charge < 0) {
    const paid = Math.min(prepaid.overdrawn, -charge);
    prepaid.overdrawn -= paid;
    if (-charge > paid) addToLot(prepaid, -charge - paid, prepaid.lots[0]?.expiresAt ?? neverExpires);
    return;
  }
  let due = charge;
  for (const lot of prepaid.lots) {
    if (due === 0) break;
    if (lot.expiresAt <= admittedAt) continue;
    const taken = Math.min(lot.left, due);
    lot.left -= taken;
    due -= taken;
  }
  removeLots(prepaid, ({ left }) => left === 0);
  prepaid.overdrawn = Math.min(prepaid.overdrawn + due, Number.MAX_SAFE_INTEGER);
}

/** When the first lot has ended, if it has expired. It lapses once no open call may need it. */
export function firstExpired({ lots }: Prepaid, now: number): number | undefined {
  const first = lots[0];
  return first !== undefined && now >= first.expiresAt ? first.expiresAt : undefined;
}

/**
 * Whether a call can use a lot after its end: it was admitted before, and found prepaid credits. One that found none only
 * ever uses lots that have not expired, as {@link chargePrepaid} does.
 */
export function mayNeedLot(part: { readonly prepaidAt: number | undefined } | undefined, end: number): boolean {
  return part?.prepaidAt !== undefined && part.prepaidAt < end;
}

/** Removes the lots that have ended by then. @returns these, the first to end first. */
export function lapse(prepaid: Prepaid, until: number): readonly Readonly<Lot>[] {
  const lapsed = prepaid.lots.filter(({ expiresAt }) => expiresAt <= until);
  removeLots(prepaid, ({ expiresAt }) => expiresAt <= until);
  return lapsed;
}

function removeLots({ lots }: Prepaid, isOver: (lot: Lot) => boolean): void {
  let kept = 0;
  for (const lot of lots) if (!isOver(lot)) lots[kept++] = lot;
  lots.length = kept;
}

export function prepaidState(prepaid: Prepaid, now: number): PrepaidState {
  const balanceMicro = balanceOf(prepaid, now);
  return {
    balanceMicro,
    overdrawnMicro: Math.max(0, -balanceMicro),
    heldMicro: prepaid.held,
    lots: prepaid.lots
      .filter(({ expiresAt }) => now < expiresAt)
      .map(({ expiresAt, left }) => ({ expiresAt: expiresAt === neverExpires ? null : expiresAt, leftMicro: left })),
  };
}
