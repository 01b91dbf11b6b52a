import { releaseIn, settleIn } from "../ledger/at-once.js";
import type { AccountCredits, EntryTags, Lease, SettleResult, WindowState } from "../ledger/credit-ledger.js";
import { SettlementKeptError } from "../ledger/guard/ledger-event.js";
import type { RateUse } from "../ledger/limits.js";
import { prepaidOf } from "../ledger/rules/account-limits.js";
import { type Funding, fundingOf } from "../ledger/window-states.js";
import type { Charge, OperatorCost, UsageSource } from "../prices/charge.js";
import { type CompiledPrice, scaledPrice } from "../prices/compiled-price.js";
import type { Micro } from "../prices/micro.js";
import { costTag, journalTagPrefix, type Tags } from "../prices/tags.js";
import { addUnitTags, addUsed, noTokens, type UsageCounts, withMissingUnits } from "../prices/usage-counts.js";
import type { Target } from "../routing/target.js";
import { rateUses } from "./admission/call-limits.js";
import type { Reservation } from "./admission/hold-credits.js";
import { priceAt, priceFor } from "./admission/price-for.js";
import type { CallServices } from "./call-services.js";
import type { CheckedCall } from "./checked-call.js";
import type { KeptLease } from "./lease-keeper.js";
import type { Bill, Meter } from "./meter.js";

/** What a call cost, and what its account has left. */
export interface SettledCharge extends Charge {
  /** `undefined` when the call used no ledger. For a model that is free, what is left of its rates alone counts. */
  readonly credits: AccountCredits | undefined;
  /** `undefined` when the call used no ledger, or its model is free. */
  readonly funding: Funding | undefined;
  /** What of the charge prepaid credits pay. */
  readonly prepaidMicro: Micro;
  /** The ledger has not confirmed it: its guard keeps it, or it is lost. Absent: it has. */
  readonly unsettled?: "kept" | "failed";
}

/** What a call has used. */
export interface Ending {
  readonly amountMicro: Micro;
  readonly tokens: UsageCounts;
  /** `undefined`: nothing is charged. */
  readonly source: UsageSource | undefined;
  cost?: OperatorCost;
}

/** What failed targets have used. */
interface FailedUsage {
  /** `undefined`: nothing of it is charged. */
  readonly charged: { readonly micro: Micro; readonly tokens: UsageCounts } | undefined;
  /** What it cost the operator; `undefined`: it is not known. */
  readonly costMicro: Micro | undefined;
}

/** A call, of which the attempt under way is metered. */
interface MeteredProgress {
  /** `undefined`: nothing is under way. */
  readonly meter: Pick<Meter, "seen" | "wasHandedOver" | "terms"> | undefined;
}

/** What of a target is needed to charge for it. */
type ChargedTarget = Pick<Target, "price" | "cost" | "name" | "ownKeyPriceFactor">;

/** Replaces the hold of a call by its real cost, however the call ends. The call sees to it that this happens once. */
export class CallSettlement implements KeptLease {
  place = -1;
  /** `undefined`: the call uses no ledger. */
  readonly reservation: Reservation | undefined;
  readonly #services: CallServices;
  readonly #admission: CheckedCall;
  #price: CompiledPrice;
  /** The one that was called last. */
  #target: ChargedTarget | undefined;
  #ofHost: Tags | undefined;
  #failed: FailedUsage | undefined;
  /** What was charged a share of, and the share. */
  #shared: { readonly micro: Micro; readonly share: number } | undefined;
  #hasReached = false;
  #call: MeteredProgress | undefined;

  constructor(services: CallServices, admission: CheckedCall, reservation: Reservation | undefined) {
    this.#services = services;
    this.#admission = admission;
    this.#price = priceFor(admission, admission.model.price);
    this.#ofHost = admission.tags;
    this.reservation = reservation;
  }

  /** The call goes to a target, which has a price of its own. */
  goesTo(target: ChargedTarget): void {
    const { choice } = this.#admission;
    this.#price = priceAt(this.#admission, target);
    // The operator pays nothing for a call with the account's own key.
    const isPaid = choice?.ownKeys === undefined || target.cost === undefined;
    this.#target = isPaid ? target : { ...target, cost: scaledPrice(target.cost, 0) };
  }

  /** Files the call under these, too. @returns all of the host's. */
  tag(tags: Tags): Tags {
    this.#ofHost = { ...this.#ofHost, ...tags };
    return this.#ofHost;
  }

  /**
   * Adds tokens that a failed target reported. @param isCharged - whether they are charged, however the call ends.
   * @returns what they cost the operator; `undefined`: it is not known.
   */
  addFailed(tokens: UsageCounts, isCharged: boolean): Micro | undefined {
    const micro = this.#target?.cost?.cost(tokens);
    if (!isCharged && micro === undefined) return undefined;
    this.#failed = {
      charged: isCharged
        ? { micro: this.#withFailed(this.#price.cost(tokens)), tokens: this.#withFailedTokens(tokens) }
        : this.#failed?.charged,
      costMicro: sumOf(this.#failed?.costMicro, micro),
    };
    return micro;
  }

  /** An upstream has got the request, so that it counts as one, however the call ends. */
  reachedUpstream(): void {
    this.#hasReached = true;
  }

  /**
   * Renews the lease from now on.
   * @param call - each renewal passes what its attempt under way has seen to the ledger, which charges that if this process
   * dies.
   */
  keepLease(call: MeteredProgress): void {
    if (this.reservation === undefined) return;
    this.#call = call;
    this.#services.keeper.keep(this);
  }

  /** Of the reservation. */
  get lease(): Lease {
    if (this.reservation === undefined) throw new TypeError("A call that uses no ledger has no lease.");
    return this.reservation.lease;
  }

  observed(): Micro {
    if (this.reservation?.isFree === true) return 0;
    const tokens = this.#call?.meter?.seen;
    return this.#withFailed(tokens === undefined ? 0 : this.#shownPrice.cost(this.#withUnits(tokens)));
  }

  uses(): readonly RateUse[] | undefined {
    const rules = this.reservation?.rules;
    if (rules === undefined) return undefined;
    const meter = this.#call?.meter;
    const tokens = this.#withFailedTokens(meter?.seen ?? noTokens);
    return rateUses(rules, tokens, this.#hasReached || meter?.wasHandedOver === true);
  }

  /** What is charged if the call ends with these tokens. */
  costOf(tokens: UsageCounts): Micro {
    if (this.reservation === undefined || this.reservation.isFree === true) return 0;
    return this.#withFailed(this.#shownPrice.cost(this.#withUnits(tokens)));
  }

  /** Of the response under way. */
  get #shownPrice(): CompiledPrice {
    return scaledPrice(this.#price, this.#call?.meter?.terms?.share ?? 1);
  }

  #withUnits(used: UsageCounts, { units } = this.#price, isEstimated = false): UsageCounts {
    const { most } = this.#admission.demand;
    return most === undefined ? used : withMissingUnits(used, units, most, isEstimated);
  }

  /** With what failed targets cost, within the safe integers: no ledger takes more, and the charge would be lost. */
  #withFailed(micro: Micro): Micro {
    return safeSum(micro, this.#failed?.charged?.micro ?? 0);
  }

  /** @param used - by the last target. */
  #costWith(used: UsageCounts | undefined): OperatorCost | undefined {
    const cost = this.#target?.cost;
    const lastMicro = this.#shared === undefined ? cost && used && cost.cost(this.#withUnits(used, cost)) : cost && 0;
    const micro = sumOf(this.#failed?.costMicro, lastMicro);
    return micro === undefined ? undefined : { micro, lastMicro };
  }

  #withFailedTokens(tokens: UsageCounts): UsageCounts {
    const charged = this.#failed?.charged;
    return charged === undefined ? tokens : addUsed(charged.tokens, tokens);
  }

  /**
   * The call ends with this. @param bill - `undefined`: only the tokens of failed attempts are charged.
   * @param meter - knows what the operator pays, whoever is charged for it.
   */
  endsWith(bill: Bill | undefined, meter: Pick<Meter, "reported" | "terms"> | undefined): Ending {
    let ending: Ending;
    const share = meter?.terms?.share;
    if (bill === undefined) {
      ending = this.#ending(noTokens, undefined, 0, this.#target?.cost && meter?.reported);
    } else if (share === undefined) {
      const used = this.#withUnits(bill.tokens, this.#price, bill.source !== "provider");
      const source = used !== bill.tokens && bill.source === "provider" ? "estimated" : bill.source;
      ending = this.#ending(used, source, this.#price.cost(used), used);
    } else {
      // Nothing was generated for it: no tokens are counted.
      const used = this.#withUnits(bill.tokens);
      this.#shared = { micro: this.#price.cost(used), share };
      ending = this.#ending({ ...noTokens }, "cache", scaledPrice(this.#price, share).cost(used), undefined);
    }
    if (this.reservation !== undefined) this.#services.keeper.drop(this);
    return ending;
  }

  /** @param used - by the last target, whoever pays for it; `undefined`: it is not known. */
  #ending(
    ofCall: UsageCounts,
    ofSource: UsageSource | undefined,
    ofMicro: Micro,
    used: UsageCounts | undefined,
  ): Ending {
    const tokens = this.#withFailedTokens(ofCall);
    const source = this.#failed?.charged === undefined ? ofSource : (ofSource ?? "provider");
    const isFree = this.reservation === undefined || this.reservation.isFree === true;
    return withCost<Ending>(
      { amountMicro: isFree ? 0 : this.#withFailed(ofMicro), tokens, source },
      this.#costWith(used),
    );
  }

  /** What was charged, as the ledger says. @param settled - `undefined`: the call uses no ledger. */
  settled(ending: Ending, settled: SettleResult | undefined): SettledCharge {
    const { amountMicro: micro, tokens, source, cost } = ending;
    if (settled === undefined) {
      return withCost<SettledCharge>(
        { micro, tokens, source, credits: undefined, funding: undefined, prepaidMicro: 0 },
        cost,
      );
    }
    if (settled.status === "unresolved") this.#warnOfCharge();
    const isFree = this.reservation?.isFree;
    const { windows, rates, prepaidMicro = 0 } = settled;
    const credits = isFree ? { windows, rates } : settled;
    const funding = fundingBy(prepaidMicro, micro, isFree);
    return withCost<SettledCharge>({ micro, tokens, source, credits, funding, prepaidMicro }, cost);
  }

  /** The ledger has not confirmed the charge: its guard keeps it, or it is lost. */
  unsettled(ending: Ending, cause: unknown): SettledCharge {
    const { lease, credits, isFree } = this.reservation as Reservation;
    const isKept = cause instanceof SettlementKeptError;
    if (isKept) this.#services.background.add(cause.over, lease.id);
    else this.#warnOfLedger(cause);
    const { amountMicro: micro, tokens, source, cost } = ending;
    const prepaidMicro = probablyPrepaid(lease, micro);
    const after = withCharge(credits, micro - prepaidMicro, prepaidMicro);
    const funding = fundingBy(prepaidMicro, micro, isFree);
    const unsettled = isKept ? "kept" : "failed";
    return withCost<SettledCharge>({ micro, tokens, source, credits: after, funding, prepaidMicro, unsettled }, cost);
  }

  /**
   * Tells the ledger. A call of a model that is free enters no charge in the journal: it is released, whatever it has used.
   * @returns at once where the ledger can; `undefined`: the call uses none.
   */
  settle(ending: Ending): SettleResult | undefined | Promise<SettleResult> {
    if (this.reservation === undefined) return undefined;
    const { lease, rules, isFree } = this.reservation;
    const { ledger } = this.#services;
    const { amountMicro, tokens, source, cost } = ending;
    const uses = rules && rateUses(rules, tokens, this.#hasReached);
    const mayCostNothing = this.#shared !== undefined || this.#admission.choice?.ownKeys !== undefined;
    if (source === undefined || isFree === true || (mayCostNothing && amountMicro === 0)) {
      return releaseIn(ledger, lease, uses);
    }
    const estimated = source !== "provider" && source !== "cache";
    const settlement = { amountMicro, estimated, tags: this.#tagsOf(tokens, source, cost) };
    return settleIn(ledger, lease, uses === undefined ? settlement : { ...settlement, rates: uses });
  }

  /** Whose call it is, and of which model: what the journal says of it if this process dies. */
  tags(): EntryTags {
    const { caller, model } = this.#admission;
    const tags: Record<string, string | number> = { keyId: caller.filedUnder, model: model.id, plan: caller.plan };
    this.#addTags(tags);
    return tags;
  }

  /** Written out: object spread takes as long as the ledger's own work. */
  #tagsOf(tokens: UsageCounts, source: UsageSource, cost: OperatorCost | undefined): EntryTags {
    const { input, cachedInput, cacheWrite, cacheWrite1h, output, reasoning } = tokens;
    const { caller, model } = this.#admission;
    const price = this.#price.version;
    const tags: Record<string, string | number> = {
      keyId: caller.filedUnder,
      model: model.id,
      plan: caller.plan,
      input,
      cachedInput,
      output,
      reasoning,
      source,
      price,
    };
    if (cacheWrite !== undefined) tags["cacheWrite"] = cacheWrite;
    if (cacheWrite1h !== undefined) tags["cacheWrite1h"] = cacheWrite1h;
    if (this.#admission.demand.most !== undefined) addUnitTags(tags, tokens);
    if (tokens.serviceTier !== undefined) tags["serviceTier"] = tokens.serviceTier;
    if (cost !== undefined) tags[costTag] = cost.micro;
    if (this.#shared !== undefined) {
      tags["keptMicro"] = this.#shared.micro;
      tags["share"] = String(this.#shared.share);
    }
    this.#addTags(tags);
    return tags;
  }

  #addTags(tags: Record<string, string | number>): void {
    const ofHost = this.#ofHost;
    if (this.#target !== undefined) tags["target"] = this.#target.name;
    if (ofHost !== undefined) for (const [name, tag] of Object.entries(ofHost)) tags[journalTagPrefix + name] = tag;
  }

  #warnOfLedger(cause: unknown): void {
    const message = "The ledger refused to settle a call.";
    this.#services.warn({ code: "ledger_failed", message, cause, requestId: this.#admission.requestId });
  }

  #warnOfCharge(): void {
    const message = "A call was settled so late that an earlier charge cannot be ruled out. It was not charged again.";
    this.#services.warn({ code: "charge_unresolved", message, requestId: this.#admission.requestId });
  }
}

/** Within the safe integers. */
function safeSum(one: Micro, other: Micro): Micro {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** Of what is known. */
function sumOf(one: Micro | undefined, other: Micro | undefined): Micro | undefined {
  return one === undefined || other === undefined ? (one ?? other) : safeSum(one, other);
}

/** Only where it is known: the others carry no byte of it. */
function withCost<Part extends Ending | SettledCharge>(part: Part, cost: OperatorCost | undefined): Part {
  if (cost !== undefined) part.cost = cost;
  return part;
}

function fundingBy(prepaidMicro: Micro, micro: Micro, isFree: boolean | undefined): Funding | undefined {
  return isFree ? undefined : fundingOf(micro, prepaidMicro);
}

/** What prepaid credits will pay of a charge that the ledger has not confirmed, if the plan gets no other room than it held. */
function probablyPrepaid(lease: Lease, charged: Micro): Micro {
  const prepaid = prepaidOf(lease);
  return prepaid === 0 ? 0 : Math.max(0, charged - (lease.amountMicro - prepaid));
}

/** An estimate of the credits after the charge, for when the ledger has not confirmed it. */
function withCharge(credits: AccountCredits, plan: Micro, ofPrepaid: Micro): AccountCredits {
  const charged = (state: WindowState): WindowState => ({ ...state, usedMicro: state.usedMicro + plan });
  const { session, week, month } = credits.windows;
  const windows = { session: charged(session), week: charged(week), month: charged(month) };
  const { prepaid } = credits;
  if (prepaid === undefined) return { ...credits, windows };
  return { ...credits, windows, prepaid: { ...prepaid, balanceMicro: prepaid.balanceMicro - ofPrepaid } };
}
