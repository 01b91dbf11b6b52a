import { SettlementKeptError } from "../guard/settlement-kept-error.js";
import type { EntryTags, WindowState, WindowStates } from "../ledger/credit-ledger.js";
import type { Charge } from "../metering/charge.js";
import type { Micro } from "../metering/micro.js";
import type { UsageSource } from "../metering/outcome.js";
import type { CompiledPrice } from "../metering/price.js";
import { addTokens, noTokens, type TokenCounts } from "../metering/token-counts.js";
import type { Reservation } from "./admission/hold-credits.js";
import type { Admission } from "./admission.js";
import type { CallServices } from "./call-services.js";
import type { KeptLease } from "./lease-keeper.js";

/** What a call cost, and what is left. */
export interface SettledCharge extends Charge {
  /** The account's credits afterwards; `undefined` when the call touches no ledger. */
  readonly windows: WindowStates | undefined;
}

/** Replaces a reservation by the real cost, exactly once, whatever ends the call. */
export class CallSettlement {
  /** `undefined`: the call touches no ledger. */
  readonly reservation: Reservation | undefined;
  readonly #services: CallServices;
  readonly #admission: Admission;
  #price: CompiledPrice;
  #failed: { micro: Micro; tokens: TokenCounts } | undefined;
  #kept: KeptLease | undefined;
  #charge: Promise<SettledCharge> | undefined;

  constructor(services: CallServices, admission: Admission, reservation: Reservation | undefined) {
    this.#services = services;
    this.#admission = admission;
    this.#price = admission.model.price;
    this.reservation = reservation;
  }

  /** The call goes to a target with this price. */
  priceBy(price: CompiledPrice): void {
    this.#price = price;
  }

  /** These are charged as well, whatever ends the call: a target reported them although it failed. */
  addFailed(tokens: TokenCounts): void {
    const earlier = this.#failed ?? { micro: 0, tokens: noTokens };
    this.#failed = { micro: earlier.micro + this.#price.cost(tokens), tokens: addTokens(earlier.tokens, tokens) };
  }

  /**
   * Renews the lease from now on.
   * @param seen - what a renewal tells the ledger to charge should this process die; `undefined`: nothing.
   */
  keepLease(seen: () => TokenCounts | undefined): void {
    if (this.reservation === undefined || this.#charge !== undefined || this.#kept !== undefined) return;
    this.#kept = this.#services.keeper.keep(this.reservation.lease, () => {
      const tokens = seen();
      return tokens === undefined ? 0 : this.#price.cost(tokens);
    });
  }

  /** Charges these tokens. The first call of `charge` or `release` decides; later ones get its result. */
  charge(tokens: TokenCounts, source: UsageSource): Promise<SettledCharge> {
    this.#charge ??= this.#settle(tokens, source, this.#price.cost(tokens));
    return this.#charge;
  }

  /** Gives the credits back: nothing was consumed. */
  release(): Promise<SettledCharge> {
    this.#charge ??= this.#settle(noTokens, undefined, 0);
    return this.#charge;
  }

  /** @param source - `undefined`: nothing is charged but what failed attempts used. */
  async #settle(ofCall: TokenCounts, ofSource: UsageSource | undefined, ofMicro: Micro): Promise<SettledCharge> {
    const failed = this.#failed;
    const tokens = failed === undefined ? ofCall : addTokens(ofCall, failed.tokens);
    const micro = failed === undefined ? ofMicro : ofMicro + failed.micro;
    const source = failed === undefined ? ofSource : (ofSource ?? "provider");
    if (this.reservation === undefined) return { micro: 0, tokens, source, windows: undefined };
    const { lease, windows } = this.reservation;
    const { ledger } = this.#services;
    if (this.#kept !== undefined) this.#services.keeper.drop(this.#kept);
    try {
      const settled =
        source === undefined
          ? await ledger.release(lease)
          : await ledger.settle(lease, {
              amountMicro: micro,
              estimated: source !== "provider",
              tags: this.#tags(tokens, source),
            });
      if (settled.status === "unresolved") this.#warnOfCharge();
      return { micro, tokens, source, windows: settled.windows };
    } catch (cause) {
      if (!(cause instanceof SettlementKeptError)) this.#warnOfLedger(cause);
      return { micro, tokens, source, windows: withCharge(windows, micro) };
    }
  }

  /** Spelled out, since spreading would take as long as the ledger itself. */
  #tags({ input, cachedInput, cacheWrite, output, reasoning }: TokenCounts, source: UsageSource): EntryTags {
    const { caller, model } = this.#admission;
    const price = this.#price.version;
    const tags = { keyId: caller.keyId, model: model.id, input, cachedInput, output, reasoning, source, price };
    return cacheWrite === undefined ? tags : { ...tags, cacheWrite };
  }

  #warnOfLedger(cause: unknown): void {
    const message = "The ledger refuses to settle a call.";
    this.#services.warn({ code: "ledger_failed", message, cause, requestId: this.#admission.requestId });
  }

  #warnOfCharge(): void {
    const message = "A call was settled too late to tell whether it had been charged before: it was not charged again.";
    this.#services.warn({ code: "charge_unresolved", message, requestId: this.#admission.requestId });
  }
}

/** The credits as they will be when the ledger has taken the charge, as far as is known. */
function withCharge({ session, week, month }: WindowStates, micro: Micro): WindowStates {
  const charged = (state: WindowState): WindowState => ({ ...state, usedMicro: state.usedMicro + micro });
  return { session: charged(session), week: charged(week), month: charged(month) };
}
