import { capBounds } from "../../ledger/calendar.js";
import type { AdmittedReservation, Balance, DeniedReservation, ReserveResult } from "../../ledger/credit-ledger.js";
import type { CapLimit, CapWindow, PrepaidState, RateLimit } from "../../ledger/limits.js";
import type { NamedLimits } from "../../ledger/rules/account-limits.js";
import { type Fixture, unique } from "../credit-ledger-fixture.js";

/** Adds prepaid credits to the account of a fixture. */
export async function topUp(
  { ledger, id }: Fixture,
  amountMicro: number,
  more: { id?: string; expiresAt?: number } = {},
): Promise<PrepaidState> {
  if (ledger.topUp === undefined) throw new Error("The ledger keeps no prepaid credits.");
  return ledger.topUp({ id: unique("topup"), account: id, amountMicro, ...more });
}

/** Takes prepaid credits back from the account of a fixture. */
export async function deduct(
  { ledger, id }: Fixture,
  amountMicro: number,
  more: { id?: string } = {},
): Promise<PrepaidState> {
  if (ledger.deduct === undefined) throw new Error("The ledger takes no prepaid credits back.");
  return ledger.deduct({ id: unique("deduction"), account: id, amountMicro, ...more });
}

/** Prepaid credits with this balance. By default nothing is held, and what there is never expires. */
export function prepaidLeft(balanceMicro: number, more: Partial<PrepaidState> = {}): PrepaidState {
  const lots = balanceMicro > 0 ? [{ expiresAt: null, leftMicro: balanceMicro }] : [];
  return { balanceMicro, overdrawnMicro: Math.max(0, -balanceMicro), heldMicro: 0, lots, ...more };
}

export function capOf({ clock, plan }: Fixture, window: CapWindow, limitMicro: number, id = `key/${window}`): CapLimit {
  return { id, window, limitMicro, bounds: capBounds(window, plan.anchor, clock.now()) };
}

export function requestsRate(limit: number, burst = limit): RateLimit {
  return { id: "key/requests", kind: "requests", take: 1, limit, burst };
}

export function tokensRate(limit: number, take: number, burst = limit): RateLimit {
  return { id: "key/tokens", kind: "tokens", take, limit, burst };
}

export function concurrentRate(limit: number): RateLimit {
  return { id: "key/concurrent", kind: "concurrent", take: 1, limit, burst: limit };
}

export function creditsNow(account: Fixture, of: NamedLimits = {}): Promise<Balance> {
  return account.ledger.balance(account.id, account.limits, of);
}

export function deniedAnyhow(result: ReserveResult): DeniedReservation {
  if (result.ok) throw new Error("Expected a denial.");
  return result;
}

export function isAdmitted(result: ReserveResult): result is AdmittedReservation {
  return result.ok;
}
