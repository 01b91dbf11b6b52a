import * as z from "zod";
import type { KeptLease, LeaseKeeper } from "../../call/lease-keeper.js";
import { checkInput } from "../../check/check-input.js";
import { SettlementKeptError } from "../../guard/settlement-kept-error.js";
import type {
  AdmittedReservation,
  CreditLedger,
  EntryTags,
  Lease,
  SettleResult,
  SettleStatus,
} from "../../ledger/credit-ledger.js";
import { type Funding, fundingOf } from "../../ledger/funding.js";
import { prepaidOf } from "../../ledger/limits/held-limits.js";
import type { Micro } from "../../metering/micro.js";
import { type CreditAmount, creditAmountShape, toCreditsMicro } from "./credit-amount.js";
import { ledgerFault } from "./from-store.js";

/** How a hold ended. */
export interface HoldEnd {
  /**
   * What the ledger did, see {@link SettleStatus}. `kept`: it could not be reached; the gateway keeps the end, and sends
   * it later.
   */
  status: SettleStatus | "kept";
  /** Micro-credits that this end charges; 0 for `duplicate` and `unresolved`. */
  chargedMicro: Micro;
  /** What of the cost prepaid credits have paid. Absent: nothing, or it is `kept`, and the ledger decides it later. */
  prepaidMicro?: Micro;
}

/** Credits that the host's own code holds, for something that is no call of a model. The first end counts. */
export interface CreditHold {
  readonly id: string;
  /** Micro-credits. */
  readonly heldMicro: Micro;
  /**
   * What is held: credits of the plan, prepaid credits, or both. What pays is decided at its end. `undefined`: it was held
   * before, and may have ended since; then {@link HoldEnd.prepaidMicro} says who paid.
   */
  readonly funding: Funding | undefined;
  /**
   * Charges what it really cost, which may be more than is held. After the hold has ended, it charges nothing, and gives
   * the same result again.
   * @throws TypeError for an amount that is not valid; what the ledger throws. Then it may be called again.
   */
  settle(cost: CreditAmount): Promise<HoldEnd>;
  /** Gives the hold back, without a charge; else as {@link settle}. */
  release(): Promise<HoldEnd>;
}

const costInput = z.strictObject(creditAmountShape);

/** A repeated reservation that has ended since does not tell what it held of prepaid credits. */
function fundingOfHold({ lease, replayed, prepaid }: AdmittedReservation): Funding | undefined {
  const mayHaveEnded = replayed && lease.prepaidAt === undefined && prepaid !== undefined;
  return mayHaveEnded ? undefined : fundingOf(lease.amountMicro, prepaidOf(lease));
}

/** What an open hold works with. */
interface HoldServices {
  readonly ledger: CreditLedger;
  readonly keeper: LeaseKeeper;
  /** Gets the hold when it has ended, or is renewed no more. */
  readonly onEnd: (hold: OpenHold) => void;
}

/** A hold from its reservation to its end. */
export class OpenHold implements CreditHold {
  readonly id: string;
  readonly lease: Lease;
  readonly funding: Funding | undefined;
  readonly #services: HoldServices;
  readonly #tags: EntryTags;
  readonly #kept: KeptLease;
  readonly #timer: ReturnType<typeof setTimeout>;
  #end: Promise<HoldEnd> | undefined;

  /** @param timeUp - after `maxMs`, when it is renewed no more. */
  constructor(
    services: HoldServices,
    { id, reservation, tags }: { id: string; reservation: AdmittedReservation; tags: EntryTags },
    { maxMs, timeUp }: { maxMs: number; timeUp: () => void },
  ) {
    const { lease } = reservation;
    this.id = id;
    this.lease = lease;
    this.funding = fundingOfHold(reservation);
    this.#services = services;
    this.#tags = tags;
    // What a process that died has used is not known, so nothing is charged for it.
    this.#kept = { lease, observed: () => 0, place: -1 };
    services.keeper.keep(this.#kept);
    this.#timer = setTimeout(() => {
      this.#stop();
      timeUp();
    }, maxMs);
    if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  get isEnding(): boolean {
    return this.#end !== undefined;
  }

  get heldMicro(): Micro {
    return this.lease.amountMicro;
  }

  async settle(cost: CreditAmount): Promise<HoldEnd> {
    const by = "hold.settle";
    const amountMicro = toCreditsMicro(by, checkInput(by, costInput, cost));
    const { ledger } = this.#services;
    return this.#endBy(by, () => ledger.settle(this.lease, { amountMicro, tags: this.#tags }), amountMicro);
  }

  async release(): Promise<HoldEnd> {
    const { ledger } = this.#services;
    return this.#endBy("hold.release", () => ledger.release(this.lease), 0);
  }

  #endBy(by: string, send: () => Promise<SettleResult>, amountMicro: Micro): Promise<HoldEnd> {
    this.#end ??= this.#send(by, send, amountMicro);
    return this.#end;
  }

  async #send(by: string, send: () => Promise<SettleResult>, amountMicro: Micro): Promise<HoldEnd> {
    let end: Pick<HoldEnd, "status" | "prepaidMicro">;
    try {
      const { status, prepaidMicro = 0 } = await send();
      end = prepaidMicro === 0 ? { status } : { status, prepaidMicro };
    } catch (error) {
      if (!(error instanceof SettlementKeptError)) {
        this.#end = undefined;
        throw ledgerFault(by, error);
      }
      end = { status: "kept" };
    }
    this.#stop();
    const isCharged = end.status !== "duplicate" && end.status !== "unresolved";
    return { ...end, chargedMicro: isCharged ? amountMicro : 0 };
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#services.keeper.drop(this.#kept);
    this.#services.onEnd(this);
  }
}
