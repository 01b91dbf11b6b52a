import type { Blocked, DeniedReservation, WindowState } from "../../ledger/credit-ledger.js";
import type { CapState, PrepaidState, RateState } from "../../ledger/limits.js";

/** Whether two denials of calls that are subject to the same rates are told in the same words and headers. */
export function isSameDenial(one: DeniedReservation, other: DeniedReservation): boolean {
  const { session, week, month } = one.windows;
  const { windows } = other;
  return (
    isSameCause(one, other) &&
    isSameWindow(session, windows.session) &&
    isSameWindow(week, windows.week) &&
    isSameWindow(month, windows.month) &&
    isSamePrepaid(one.prepaid, other.prepaid) &&
    areSame(one.rates, other.rates, isSameRate)
  );
}

/** The first of the windows that deny speaks, else the first of the caps, else the first of the rates. */
function isSameCause(one: DeniedReservation, other: DeniedReservation): boolean {
  const [window] = one.blocked;
  const [otherWindow] = other.blocked;
  if (window !== undefined && otherWindow !== undefined) {
    return areSame(one.blocked, other.blocked, isSameBlock) && isSameSecond(one, window, other, otherWindow);
  }
  if (window !== undefined || otherWindow !== undefined) return false;
  return isSameCap(one, other) ?? isSameRateDenial(one, other);
}

/** @returns `undefined` where no cap denies. */
function isSameCap(one: DeniedReservation, other: DeniedReservation): boolean | undefined {
  const cap = one.blockedCaps?.[0];
  const otherCap = other.blockedCaps?.[0];
  if (cap === undefined && otherCap === undefined) return undefined;
  if (cap === undefined || otherCap === undefined || cap.id !== otherCap.id || cap.cause !== otherCap.cause)
    return false;
  return isSameCapState(capOf(one, cap.id), capOf(other, cap.id)) && isSameSecond(one, cap, other, otherCap);
}

/** Clients are told to the millisecond how long they have to wait for a rate. */
function isSameRateDenial(one: DeniedReservation, other: DeniedReservation): boolean {
  const rate = one.blockedRates?.[0];
  const otherRate = other.blockedRates?.[0];
  if (rate === undefined || otherRate === undefined) return false;
  const isSame = rate.id === otherRate.id && rate.limit === otherRate.limit && rate.cause === otherRate.cause;
  return isSame && waitOf(one, rate) === waitOf(other, otherRate);
}

type Awaited = { readonly availableAt: number | null };

/** In whole seconds: until when to wait, and for how long. */
function isSameSecond(
  one: DeniedReservation,
  awaited: Awaited,
  other: DeniedReservation,
  otherAwaited: Awaited,
): boolean {
  return (
    secondsOf(awaited.availableAt) === secondsOf(otherAwaited.availableAt) &&
    secondsOf(waitOf(one, awaited)) === secondsOf(waitOf(other, otherAwaited))
  );
}

function waitOf({ now }: DeniedReservation, { availableAt }: Awaited): number | null {
  return availableAt === null ? null : availableAt - now;
}

function secondsOf(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.ceil(milliseconds / 1000);
}

function areSame<Item>(
  some: readonly Item[] | undefined,
  others: readonly Item[] | undefined,
  isSame: (one: Item, other: Item) => boolean,
): boolean {
  if (some === undefined || others === undefined) return some === others;
  if (some.length !== others.length) return false;
  for (let index = 0; index < some.length; index++) {
    if (!isSame(some[index] as Item, others[index] as Item)) return false;
  }
  return true;
}

function isSameBlock(one: Blocked, other: Blocked): boolean {
  return one.window === other.window && one.cause === other.cause;
}

function isSameWindow(one: WindowState, other: WindowState): boolean {
  return (
    one.usedMicro === other.usedMicro &&
    one.heldMicro === other.heldMicro &&
    one.bonusMicro === other.bonusMicro &&
    one.limitMicro === other.limitMicro &&
    one.resetsAt === other.resetsAt
  );
}

function isSamePrepaid(one: PrepaidState | undefined, other: PrepaidState | undefined): boolean {
  return (
    one?.balanceMicro === other?.balanceMicro &&
    one?.overdrawnMicro === other?.overdrawnMicro &&
    one?.heldMicro === other?.heldMicro
  );
}

function capOf({ caps }: DeniedReservation, id: string): CapState | undefined {
  return caps?.find((cap) => cap.id === id);
}

function isSameCapState(one: CapState | undefined, other: CapState | undefined): boolean {
  return (
    one?.window === other?.window &&
    one?.usedMicro === other?.usedMicro &&
    one?.heldMicro === other?.heldMicro &&
    one?.limitMicro === other?.limitMicro
  );
}

function isSameRate(one: RateState, other: RateState): boolean {
  return (
    one.id === other.id &&
    one.kind === other.kind &&
    one.limit === other.limit &&
    one.remaining === other.remaining &&
    one.fullInMs === other.fullInMs
  );
}
