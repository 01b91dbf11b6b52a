import type { RateRule } from "../../access/rate-rules.js";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { Blocked, DeniedReservation, WindowLimits, WindowState } from "../../ledger/credit-ledger.js";
import { denialError } from "./denial.js";

/** The last denial of an account, and what it was made of. */
interface KnownDenial {
  readonly result: DeniedReservation;
  /** Until the credits are there again, rounded up. */
  readonly seconds: number;
  readonly error: GatewayError;
}

/** By the limits of their accounts, which are the same object as long as nothing has changed. */
const known = new WeakMap<WindowLimits, KnownDenial>();

/**
 * The 429 of {@link denialError}. A client that repeats a request whose account has used up its credits gets the same error
 * for a second. Only the windows deny it: what is prepaid, capped or limited by a rate may change with every request.
 * @param limits - of the reservation.
 * @param rules - the rates that the call is subject to.
 */
export function repeatedDenial(
  result: DeniedReservation,
  limits: WindowLimits,
  rules: readonly RateRule[],
): GatewayError {
  const { blocked, prepaid, caps, rates, now } = result;
  const [window] = blocked;
  const isPlain = prepaid === undefined && caps === undefined && rates === undefined;
  if (!isPlain || window === undefined) return denialError(result, rules);
  const seconds = Math.ceil((window.availableAt - now) / 1000);
  const last = known.get(limits);
  if (last?.seconds === seconds && isSame(last.result, result)) return last.error;
  const error = denialError(result, rules);
  known.set(limits, { result, seconds, error });
  return error;
}

function isSame(one: DeniedReservation, other: DeniedReservation): boolean {
  const { session, week, month } = one.windows;
  const { windows } = other;
  return (
    isSameBlock(one.blocked[0], other.blocked[0]) &&
    isSameState(session, windows.session) &&
    isSameState(week, windows.week) &&
    isSameState(month, windows.month)
  );
}

function isSameBlock(one: Blocked | undefined, other: Blocked | undefined): boolean {
  return one?.window === other?.window && one?.cause === other?.cause && one?.availableAt === other?.availableAt;
}

function isSameState(one: WindowState, other: WindowState): boolean {
  return (
    one.usedMicro === other.usedMicro &&
    one.heldMicro === other.heldMicro &&
    one.bonusMicro === other.bonusMicro &&
    one.limitMicro === other.limitMicro &&
    one.resetsAt === other.resetsAt
  );
}
