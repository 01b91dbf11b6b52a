import type { RateRule } from "../../access/rate-rules.js";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { DeniedReservation, WindowLimits } from "../../ledger/credit-ledger.js";
import type { CapLimit } from "../../ledger/limits.js";
import type { CallLimits } from "./call-limits.js";
import { denialError } from "./denial.js";
import { isSameDenial } from "./same-denial.js";

/** The last denial of an account, key or model, and what it was made of. */
interface KnownDenial {
  readonly result: DeniedReservation;
  readonly rules: readonly RateRule[];
  readonly error: GatewayError;
}

const noRules: readonly RateRule[] = [];

/** The denials of a gateway that clients provoke again and again. */
export class RepeatedDenials {
  /** By the limits that denied. They are the same object as long as nothing has changed, and nobody else's. */
  readonly #known = new WeakMap<WindowLimits | readonly CapLimit[] | readonly RateRule[], KnownDenial>();

  /**
   * The 429 of {@link denialError}. A client that repeats a request gets the same error as long as it says the same: for a
   * second where credits are used up.
   * @param limits - of the reservation.
   * @param named - the caps and rates that the call is subject to.
   */
  of(
    result: DeniedReservation,
    limits: WindowLimits,
    named: Partial<Pick<CallLimits, "caps" | "rules" | "budgets">> | undefined,
  ): GatewayError {
    const rules = named?.rules ?? noRules;
    const place = result.blocked.length > 0 ? limits : (named?.caps ?? rules);
    const last = this.#known.get(place);
    const isKnown = last !== undefined && (last.rules === rules || result.rates === undefined);
    if (isKnown && isSameDenial(last.result, result)) return last.error;
    const error = denialError(result, rules, named?.budgets);
    this.#known.set(place, { result, rules, error });
    return error;
  }
}
