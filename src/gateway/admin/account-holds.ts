import * as z from "zod";
import { denialError } from "../../call/admission/denial.js";
import { ledgerFailure } from "../../call/call-warnings.js";
import type { KeptLease, LeaseKeeper } from "../../call/lease-keeper.js";
import { shuttingDown } from "../../call/relay/abort-error.js";
import { checkInput } from "../../check/check-input.js";
import { idText, tagsInput } from "../../check/text-schemas.js";
import { accountSuspended, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type {
  AdmittedReservation,
  CreditLedger,
  EntryTags,
  Lease,
  ReserveRequest,
  ReserveResult,
  SettleResult,
  SettleStatus,
} from "../../ledger/credit-ledger.js";
import { SettlementKeptError } from "../../ledger/guard/ledger-event.js";
import { prepaidOf } from "../../ledger/rules/account-limits.js";
import { leaseKey } from "../../ledger/rules/reservation.js";
import { type Funding, fundingOf } from "../../ledger/window-states.js";
import type { Micro } from "../../prices/micro.js";
import { journalTagPrefix, meantDimension, type Tags } from "../../prices/tags.js";
import { keyAccount, wholeInstant } from "../../records/keys/check-key.js";
import { isError } from "../../runtime/host-code.js";
import { letProcessEnd } from "../../runtime/let-process-end.js";
import type { WatchedLookups } from "../watched-lookups.js";
import type { AccountTerms, AccountTermsLookup } from "./account-terms.js";
import { type CreditAmount, creditAmountShape, toCreditsMicro } from "./credit-amount.js";
import { ledgerFault } from "./from-store.js";
import { checkAccountInput } from "./method-checks.js";

/** What {@link AccountHolds.hold} takes: the most that it may cost, and the rest. */
export type NewHold = AccountTerms &
  CreditAmount & {
    /** The same id holds once. */
    id: string;
    /** What the charge is filed under, as that of a call. At most 16. Default: nothing. */
    tags?: Tags | undefined;
    /**
     * How long the gateway keeps the hold, in milliseconds, 1 s to 24 h. Then it warns, and the credits are free again
     * within `leaseMs`. A settlement that comes later is still charged. Default: 3,600,000, an hour.
     */
    maxMs?: number | undefined;
  };

/** Credits for what is not a call of a model, such as an image or a tool. */
export interface AccountHolds {
  /**
   * Holds credits under the account's limits, as a call does, until it is settled or released, its process dies, or the
   * gateway closes.
   * @throws GatewayError 429 as a call when the credits do not cover it; 403 for a suspended account; 503 when the
   * ledger fails, or the gateway is closed. UnknownTermsError as {@link ManagedAccounts.balance}; LedgerConflictError
   * when the id was used with another account or amount.
   */
  hold(account: string, hold: NewHold): Promise<CreditHold>;
}

const holdInput = z.strictObject({
  account: keyAccount,
  id: idText(200),
  ...creditAmountShape,
  plan: idText()
    .nullish()
    .transform((value) => value ?? undefined),
  anchor: wholeInstant,
  tags: tagsInput(meantDimension).optional(),
  maxMs: z.number().int().min(1_000).max(86_400_000).default(3_600_000),
});

interface HoldingServices {
  readonly ledger: CreditLedger;
  readonly keeper: LeaseKeeper;
  readonly leaseMs: number;
  readonly terms: AccountTermsLookup;
  readonly findAccount: WatchedLookups["findAccount"];
  readonly warn: Warn;
}

const by = "gateway.accounts.hold";
/** An id of the host's may also be that of a request. */
const idPrefix = "hold:";

/** The holds of the host's own code in this process. */
export class HostHolds implements AccountHolds {
  readonly #services: HoldingServices;
  /** By the keys of their leases. */
  readonly #open = new Map<string, OpenHold>();
  /** Reservations under way, by the keys of their leases. */
  readonly #pending = new Map<string, Promise<unknown>>();
  #isClosing = false;

  constructor(services: HoldingServices) {
    this.#services = services;
  }

  async hold(account: string, given: NewHold): Promise<CreditHold> {
    const input = checkAccountInput(by, holdInput, account, given);
    const amountMicro = toCreditsMicro(by, input);
    const { terms, findAccount, leaseMs } = this.#services;
    const known = await findAccount?.(account);
    if (known?.suspension !== undefined) throw accountSuspended(known.suspension);
    const { limits } = await terms.resolve(by, account, input);
    const request = { id: idPrefix + input.id, account, amountMicro, limits, leaseMs };
    const key = leaseKey(request);
    // Two of the same id are one hold: the ledger may respond to the second one first.
    while (this.#pending.has(key)) await this.#pending.get(key)?.catch(() => {});
    if (this.#isClosing) throw shuttingDown();
    const pending = this.#begin(request, input);
    this.#pending.set(key, pending);
    try {
      return await pending;
    } finally {
      this.#pending.delete(key);
    }
  }

  /** Releases what is open: no one can settle it once the gateway is closed. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#pending.values());
    await Promise.all(
      [...this.#open.values()].map(async (hold) => {
        if (!hold.isEnding) this.#warnOf(hold, "was open when the gateway closed. It is released, without a charge");
        // Where the ledger fails, the lease ends by itself.
        await hold.release().catch(() => {});
      }),
    );
  }

  async #begin(request: ReserveRequest, { id, tags, maxMs }: z.output<typeof holdInput>): Promise<CreditHold> {
    const { ledger, keeper } = this.#services;
    const reservation = await this.#reserve(request);
    const { lease, replayed } = reservation;
    const key = leaseKey(lease);
    const earlier = this.#open.get(key);
    if (replayed && earlier !== undefined) return earlier;
    const onEnd = (): void => {
      if (this.#open.get(key) === hold) this.#open.delete(key);
    };
    const timeUp = (): void =>
      this.#warnOf(hold, `was open for ${maxMs} ms. Its credits are free again when its lease ends`);
    const hold = new OpenHold({ ledger, keeper, onEnd }, { id, reservation, tags: entryTags(tags) }, { maxMs, timeUp });
    this.#open.set(key, hold);
    return hold;
  }

  async #reserve(request: ReserveRequest): Promise<AdmittedReservation> {
    const { ledger, warn } = this.#services;
    let result: ReserveResult;
    try {
      result = await ledger.reserve(request);
    } catch (cause) {
      if (isError(cause) && faultsOfHost.has(cause.name)) throw cause;
      warn({ code: "ledger_failed", message: ledgerFailure("hold credits", cause), cause });
      throw serviceUnavailable("Credits cannot be checked at the moment. Try again shortly.", cause);
    }
    if (!result.ok) throw denialError(result, []);
    return result;
  }

  #warnOf({ id, lease }: OpenHold, what: string): void {
    const message = `The hold ${JSON.stringify(id)} of the account ${JSON.stringify(lease.account)} ${what}.`;
    this.#services.warn({ code: "hold_unsettled", message });
  }
}

/** By their names, since they may come from another copy of the package. */
const faultsOfHost = new Set(["LedgerConflictError", "LedgerInputError"]);

function entryTags(tags: Tags = {}): EntryTags {
  return Object.fromEntries(Object.entries(tags).map(([name, tag]) => [journalTagPrefix + name, tag]));
}

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
class OpenHold implements CreditHold {
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
    letProcessEnd(this.#timer);
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
