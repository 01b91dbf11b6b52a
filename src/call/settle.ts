import type { Warn } from "../events/warning.js";
import { SettlementKeptError } from "../guard/settlement-kept-error.js";
import type { AtOnceLedger } from "../ledger/at-once-ledger.js";
import type * as Ledger from "../ledger/credit-ledger.js";
import type { SettleResult, WindowState, WindowStates } from "../ledger/credit-ledger.js";
import type { Micro } from "../metering/micro.js";
import type { UsageSource } from "../metering/outcome.js";
import type { CompiledPrice } from "../metering/price.js";
import { noTokens, type TokenCounts } from "../metering/token-counts.js";
import type { Reservation } from "./admission/reserve.js";
import type { KeptLease, LeaseKeeper } from "./lease-keeper.js";

/** What one call has come to cost. */
export interface Charge {
  micro: Micro;
  tokens: TokenCounts;
  /** `undefined`: nothing was charged. */
  source: UsageSource | undefined;
  /** The stock afterwards; `undefined` when the call touches no ledger. */
  windows: WindowStates | undefined;
}

function sumOf(one: TokenCounts, other: TokenCounts): TokenCounts {
  return {
    input: one.input + other.input,
    cachedInput: one.cachedInput + other.cachedInput,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
}

/** What a call is filed under. */
export interface CallTags {
  keyId: string;
  model: string;
}

/** Replaces a reservation by the real cost, exactly once, whatever ends the call. */
export class Settlement {
  readonly #ledger: AtOnceLedger;
  readonly #reservation: Reservation | undefined;
  #price: CompiledPrice;
  #failed: { micro: Micro; tokens: TokenCounts } | undefined;
  readonly #keeper: LeaseKeeper;
  readonly #warn: Warn;
  readonly #tags: CallTags;
  #kept: KeptLease | undefined;
  #charge: Charge | Promise<Charge> | undefined;

  constructor(options: {
    ledger: AtOnceLedger;
    reservation: Reservation | undefined;
    price: CompiledPrice;
    keeper: LeaseKeeper;
    warn: Warn;
    /** For the ledger's journal. */
    tags: CallTags;
  }) {
    this.#ledger = options.ledger;
    this.#reservation = options.reservation;
    this.#price = options.price;
    this.#keeper = options.keeper;
    this.#warn = options.warn;
    this.#tags = options.tags;
  }

  /** The stock as it was at admission. */
  get windows(): WindowStates | undefined {
    return this.#reservation?.windows;
  }

  /** The call goes to a target with this price. */
  priceBy(price: CompiledPrice): void {
    this.#price = price;
  }

  /** These are charged as well, whatever ends the call: a target reported them although it failed. */
  addFailed(tokens: TokenCounts): void {
    const earlier = this.#failed ?? { micro: 0, tokens: noTokens };
    this.#failed = {
      micro: earlier.micro + this.#price.cost(tokens),
      tokens: sumOf(earlier.tokens, tokens),
    };
  }

  /**
   * From now on the lease is renewed.
   * @param seen - what a renewal tells the ledger to charge should this process die; `undefined`: nothing.
   */
  hold(seen: () => TokenCounts | undefined): void {
    if (this.#reservation === undefined || this.#charge !== undefined || this.#kept !== undefined) return;
    this.#kept = this.#keeper.keep(this.#reservation.lease, () => {
      const tokens = seen();
      return tokens === undefined ? 0 : this.#price.cost(tokens);
    });
  }

  /** Charges these tokens. The first call of `charge` or `release` decides; later ones get its result. */
  charge(tokens: TokenCounts, source: UsageSource): Charge | Promise<Charge> {
    this.#charge ??= this.#settle(tokens, source, this.#price.cost(tokens));
    return this.#charge;
  }

  /** Gives the stock back: nothing was consumed. */
  release(): Charge | Promise<Charge> {
    this.#charge ??= this.#settle(noTokens, undefined, 0);
    return this.#charge;
  }

  #settle(tokens: TokenCounts, source: UsageSource | undefined, micro: Micro): Charge | Promise<Charge> {
    const failed = this.#failed;
    if (failed === undefined) return this.#end(tokens, source, micro);
    return this.#end(sumOf(tokens, failed.tokens), source ?? "provider", micro + failed.micro);
  }

  #end(tokens: TokenCounts, source: UsageSource | undefined, micro: Micro): Charge | Promise<Charge> {
    const reservation = this.#reservation;
    if (reservation === undefined) return { micro: 0, tokens, source, windows: undefined };
    const { lease, windows } = reservation;
    if (this.#kept !== undefined) this.#keeper.drop(this.#kept);
    const failed = (cause: unknown): Charge => {
      if (!(cause instanceof SettlementKeptError)) this.#warnOfLedger(cause);
      return { micro, tokens, source, windows: withCharge(windows, micro) };
    };
    const ledger = this.#ledger;
    const settlement = source === undefined ? undefined : this.#settlement(tokens, source, micro);
    let result: SettleResult | undefined;
    try {
      result = ledger.endAtOnce(lease, settlement);
    } catch (cause) {
      return failed(cause);
    }
    if (result !== undefined) return this.#charged(tokens, source, micro, result);
    const sent = settlement === undefined ? ledger.release(lease) : ledger.settle(lease, settlement);
    return sent.then((settled) => this.#charged(tokens, source, micro, settled), failed);
  }

  #charged(tokens: TokenCounts, source: UsageSource | undefined, micro: Micro, result: SettleResult): Charge {
    if (result.status === "unresolved") this.#warnOfCharge();
    return { micro, tokens, source, windows: result.windows };
  }

  #settlement(tokens: TokenCounts, source: UsageSource, micro: Micro): Ledger.Settlement {
    const { input, cachedInput, output, reasoning } = tokens;
    const { keyId, model } = this.#tags;
    return {
      amountMicro: micro,
      estimated: source !== "provider",
      // Spelled out, since spreading would take as long as the ledger itself.
      tags: { keyId, model, input, cachedInput, output, reasoning, source, price: this.#price.version },
    };
  }

  #warnOfLedger(cause: unknown): void {
    this.#warn({ code: "ledger_failed", message: "The ledger refuses to settle a call.", cause, ...this.#request });
  }

  #warnOfCharge(): void {
    const message = "A call was settled too late to tell whether it had been charged before: it was not charged again.";
    this.#warn({ code: "charge_unresolved", message, ...this.#request });
  }

  /** A reservation goes by the request's id. */
  get #request(): { requestId?: string } {
    return this.#reservation === undefined ? {} : { requestId: this.#reservation.lease.id };
  }
}

/** The stock as it will be when the ledger has taken the charge, as far as is known. */
function withCharge({ session, week, month }: WindowStates, micro: Micro): WindowStates {
  const charged = (state: WindowState): WindowState => ({ ...state, usedMicro: state.usedMicro + micro });
  return { session: charged(session), week: charged(week), month: charged(month) };
}
