import type { Clock } from "../ledger/clock.js";
import type { CreditLedger, Micro, SettleResult, WindowStates } from "../ledger/credit-ledger.js";
import type { CompiledPrice } from "../ledger/price.js";
import type { GatewayError } from "../openai/errors.js";
import { noTokens, type TokenCounts } from "../openai/usage.js";
import type { KeptLease, LeaseKeeper } from "./lease-keeper.js";
import type { Reservation } from "./reserve.js";
import type { Warn } from "./warning.js";

/**
 * Where the token counts come from: the upstream's own report, an estimate for lack of one, or an estimate of the part
 * that was seen before the answer broke off.
 */
export type UsageSource = "provider" | "estimated" | "partial";

/**
 * How a call ended: `completed`; `client_gone`; `upstream_refused`: the upstream found fault with the request, or was at
 * its capacity; `upstream_failed` and `upstream_timeout`: it gave no answer, or broke off; `shutdown`: the gateway was
 * closed.
 */
export type EndReason =
  | "completed"
  | "client_gone"
  | "upstream_refused"
  | "upstream_failed"
  | "upstream_timeout"
  | "shutdown";

/** How a call ended that the upstream ended by this error. */
export function endReasonOf({ status }: GatewayError): EndReason {
  if (status === 504) return "upstream_timeout";
  return status < 500 ? "upstream_refused" : "upstream_failed";
}

/** What a call has come to when its answer has ended. */
export interface Outcome {
  reason: EndReason;
  tokens: TokenCounts;
  /** `undefined`: nothing is charged. */
  source: UsageSource | undefined;
  /** What the client was told, unless all went well. */
  error?: GatewayError;
}

/** What one call has come to cost. */
export interface Charge {
  micro: Micro;
  tokens: TokenCounts;
  /** `undefined`: nothing was charged. */
  source: UsageSource | undefined;
  /** The stock afterwards; `undefined` when the call touches no ledger. */
  windows: WindowStates | undefined;
}

/** How often a settlement is sent before it is given up, and how long to wait before the second attempt. */
const attempts = 6;
const firstPauseMs = 100;

const nothing = (): Micro => 0;

/** What a call is filed under. */
export interface CallTags {
  key: string;
  model: string;
}

/** Replaces a reservation by the real cost, exactly once, whatever ends the call. */
export class Settlement {
  readonly #ledger: CreditLedger;
  readonly #reservation: Reservation | undefined;
  readonly #price: CompiledPrice;
  readonly #keeper: LeaseKeeper;
  readonly #warn: Warn;
  readonly #clock: Clock;
  readonly #tags: CallTags;
  #kept: KeptLease | undefined;
  #charge: Promise<Charge> | undefined;
  #repeating: Promise<void> | undefined;

  constructor(options: {
    ledger: CreditLedger;
    reservation: Reservation | undefined;
    price: CompiledPrice;
    keeper: LeaseKeeper;
    warn: Warn;
    clock: Clock;
    /** For the ledger's journal. */
    tags: CallTags;
  }) {
    this.#ledger = options.ledger;
    this.#reservation = options.reservation;
    this.#price = options.price;
    this.#keeper = options.keeper;
    this.#warn = options.warn;
    this.#clock = options.clock;
    this.#tags = options.tags;
  }

  /** The stock as it was at admission. */
  get windows(): WindowStates | undefined {
    return this.#reservation?.windows;
  }

  /**
   * From now on the lease is renewed.
   * @param seen - what a renewal tells the ledger to charge should this process die. Default: nothing.
   */
  hold(seen?: () => TokenCounts): void {
    if (this.#reservation === undefined || this.#charge !== undefined) return;
    const observed = seen === undefined ? nothing : () => this.#price.cost(seen());
    if (this.#kept === undefined) this.#kept = this.#keeper.keep(this.#reservation.lease, observed);
    else this.#kept.observed = observed;
  }

  /** Charges these tokens. The first call of `charge` or `release` decides; later ones get its result. */
  charge(tokens: TokenCounts, source: UsageSource): Promise<Charge> {
    this.#charge ??= this.#settle(tokens, source);
    return this.#charge;
  }

  /** Gives the stock back: nothing was consumed. */
  release(): Promise<Charge> {
    this.#charge ??= this.#settle(noTokens, undefined);
    return this.#charge;
  }

  /** Ends when the ledger has taken a charge after all, or finally has not; `undefined` when it took it at once. */
  get repeating(): Promise<void> | undefined {
    return this.#repeating;
  }

  async #settle(tokens: TokenCounts, source: UsageSource | undefined): Promise<Charge> {
    const reservation = this.#reservation;
    if (reservation === undefined) return { micro: 0, tokens, source, windows: undefined };
    const { lease, windows } = reservation;
    if (this.#kept !== undefined) this.#keeper.drop(this.#kept);
    const micro = source === undefined ? 0 : this.#price.cost(tokens);
    const send = (mayBeDuplicateSince?: number): Promise<SettleResult> => {
      if (source === undefined) return this.#ledger.release(lease);
      const { input, cachedInput, output, reasoning } = tokens;
      const { key, model } = this.#tags;
      const settlement = {
        amount: micro,
        estimated: source !== "provider",
        // Spelled out, since spreading would take as long as the ledger itself.
        tags: { key, model, input, cachedInput, output, reasoning, source },
      };
      return this.#ledger.settle(
        lease,
        mayBeDuplicateSince === undefined ? settlement : { ...settlement, mayBeDuplicateSince },
      );
    };
    const firstAttempt = this.#clock.now();
    try {
      const result = await send();
      this.#warnIfUnresolved(result);
      return { micro, tokens, source, windows: result.windows };
    } catch (cause) {
      this.#warnOfLedger("The ledger failed to settle a call; it is tried again.", cause);
      this.#repeating = this.#repeat(() => send(firstAttempt));
      return { micro, tokens, source, windows };
    }
  }

  /** Goes on in the background: the client need not wait for it. The ledger knows the lease's id if it took effect. */
  async #repeat(send: () => Promise<SettleResult>): Promise<void> {
    for (let attempt = 2; attempt <= attempts; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** (attempt - 2)));
      try {
        this.#warnIfUnresolved(await send());
        return;
      } catch (cause) {
        if (attempt < attempts) continue;
        this.#warnOfLedger(
          "The ledger failed to settle a call, finally: its hold ends with its lease, charged as last renewed.",
          cause,
        );
      }
    }
  }

  #warnOfLedger(message: string, cause: unknown): void {
    this.#warn({ code: "ledger_failed", message, cause, ...this.#request });
  }

  #warnIfUnresolved({ status }: SettleResult): void {
    if (status !== "unresolved") return;
    const message = "A call was settled too late to tell whether it had been charged before: it was not charged again.";
    this.#warn({ code: "charge_unresolved", message, ...this.#request });
  }

  /** A reservation goes by the request's id. */
  get #request(): { requestId?: string } {
    return this.#reservation === undefined ? {} : { requestId: this.#reservation.lease.id };
  }
}
