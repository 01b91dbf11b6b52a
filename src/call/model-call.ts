import { badGateway, type GatewayError, internalError, isGatewayError, withHeaders } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/provider-refusal.js";
import type { ObserveLedger } from "../events/ledger-operation-completed.js";
import { endReasonOf, type Outcome } from "../events/outcome.js";
import type { RequestObserver } from "../events/request-observer.js";
import type { GatewayRequest } from "../http/message.js";
import type { Tags } from "../metering/tags.js";
import type { Operation } from "../operations/operation.js";
import { type ClientCall, directCallOf } from "../providers/direct-call.js";
import { isUpstreamError } from "../providers/upstream-provider.js";
import { verdictOf } from "../routing/target-health.js";
import type { TargetVisit } from "../routing/target-visit.js";
import { AbortNotifier } from "./abort-notifier.js";
import type { ReceivedCall } from "./admission/check-call.js";
import { addCreditHeaders } from "./admission/credit-headers.js";
import { creditText } from "./admission/credit-text.js";
import type { Reservation } from "./admission/hold-credits.js";
import type { CallServices } from "./call-services.js";
import { CallSettlement, type SettledCharge } from "./call-settlement.js";
import type { CheckedCall } from "./checked-call.js";
import { Departure } from "./departure.js";
import type { AnswerReview } from "./guarded/answer-review.js";
import { reviewOf } from "./guarded/review-of.js";
import { addRateHeaders } from "./limits/rate-headers.js";
import { Meter } from "./meter.js";
import { observedCharge } from "./observed/observed-charge.js";
import { type AbortReason, lastGraceMs, type OpenCall } from "./open-calls.js";
import { abortError } from "./relay/abort-error.js";
import { traceHeaders } from "./relay/trace-headers.js";
import { andThen, type Soon } from "./soon.js";
import { warnOfCost } from "./warn-of-cost.js";
import { warnOfUnpriced } from "./warn-of-unpriced.js";
import { warnOfUpstream } from "./warn-of-upstream.js";

/** A response that can be read without its client. */
export interface ReadableOn {
  /** Reads the rest, as long as the departure lets it. */
  readOn(departure: Departure): Promise<void>;
}

/** An admitted call, from its hold to its settlement. Of the classes here, only this one has a life cycle. */
export class ModelCall implements OpenCall, ClientCall {
  place = -1;
  number = -1;
  readonly services: CallServices;
  readonly admission: CheckedCall;
  readonly client: GatewayRequest;
  readonly operation: Operation;
  readonly observer: RequestObserver;
  readonly settlement: CallSettlement;
  /** `undefined`: the call ends when its client leaves, unless only the usage is missing then. */
  departure: Departure | undefined;
  /** The stream that is being relayed. */
  stream: ReadableOn | undefined;
  /** `undefined`: no guard checks the answer. */
  readonly review: AnswerReview | undefined;
  /** Tells the provider to stop: the call was aborted. */
  readonly notice = new AbortNotifier();
  /** Further headers for upstreams: the trace to which the request belongs. */
  readonly trace: Readonly<Record<string, string>> | undefined;
  /** The target that the call is at. */
  visit: TargetVisit | undefined;
  /** What that target has done for the call. `undefined`: nothing that is charged. */
  meter: Meter | undefined;
  /** How it has ended. */
  ending: Outcome | undefined;
  /** The failed attempt of which the host has been warned already. */
  warned: GatewayError | undefined;
  #abortReason: AbortReason | undefined;
  #charge: Soon<SettledCharge> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param reservation - `undefined`: the call uses no ledger. */
  constructor(
    services: CallServices,
    admission: CheckedCall,
    reservation: Reservation | undefined,
    { request, observer, operation }: Pick<ReceivedCall, "request" | "observer" | "operation">,
  ) {
    this.services = services;
    this.admission = admission;
    this.client = request;
    this.operation = operation;
    this.observer = observer;
    this.trace = services.forwardsTrace ? traceHeaders(request) : undefined;
    this.settlement = new CallSettlement(services, admission, reservation);
    const limits = admission.allowance.drain ?? admission.model.drain;
    this.departure = limits === "cancel" ? undefined : new Departure(limits, this);
    this.review = services.answerGuards && reviewOf(this, services.answerGuards, operation);
  }

  /** Starts the call. From here on it always ends by {@link end}. @param number - of the call that was expected. */
  begin(number: number): void {
    const { openCalls, limits } = this.services;
    this.number = number;
    openCalls.add(this);
    this.observer.admitted(this.admission.callId, this.settlement.reservation?.heldMicro ?? 0);
    this.settlement.keepLease(this);
    if (limits.maxAnswerMs !== undefined) this.#limit(limits.maxAnswerMs);
    if (this.client.signal.aborted) this.handleEvent();
    else this.client.signal.addEventListener("abort", this);
  }

  get awaitsUsage(): boolean {
    return this.meter?.progress?.awaitsUsage === true;
  }

  get isCounted(): boolean {
    return this.meter?.progress?.isCounted === true;
  }

  get abortReason(): AbortReason | undefined {
    return this.#abortReason;
  }

  /** Whether the client has left, or the call was aborted. */
  get isDeparted(): boolean {
    return this.#abortReason !== undefined || this.departure?.hasLeft === true;
  }

  /** No other target follows: what is large of the request goes, unless the host's own provider may still read it. */
  committed(): void {
    const { request } = this.admission;
    if (request.letGo === undefined) return;
    const provider = this.visit?.target.provider;
    if (provider === undefined || directCallOf(provider) === undefined) return;
    request.letGo();
    this.services.body.pendingBodies.drop(this.client);
  }

  /** Files the call under these, too. */
  tag(tags: Tags): void {
    this.observer.tagged(this.settlement.tag(tags));
  }

  /** Starts an attempt. */
  enter(visit: TargetVisit): Meter {
    const { target } = visit;
    this.visit = visit;
    this.meter = new Meter(this.admission, this.services.clock);
    this.settlement.goesTo(target);
    this.observer.attemptStarted(target);
    return this.meter;
  }

  /** Aborts the call. If the client has left, it is settled at once. */
  abort(reason: AbortReason): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.notice.abort();
    if (reason === "client_gone") this.abandon();
  }

  abandon(): void {
    void this.end({ reason: this.#abortReason ?? "shutdown" });
  }

  /** Settles the call and reports it. The first end counts; later calls return its charge. Never fails. */
  end(ending: Outcome): Soon<SettledCharge> {
    this.#charge ??= this.#end(ending);
    return this.#charge;
  }

  /** Ends the call with a thrown error. @returns the error for the client. */
  fail(thrown: unknown): Soon<GatewayError> {
    const error = this.#toGatewayError(thrown);
    const isGone = this.departure?.hasLeft === true && isUpstreamError(thrown);
    const reason = this.#abortReason ?? endReasonOf(error);
    const charge = this.end(isGone ? { reason: "client_gone" } : { reason, error });
    return andThen(charge, (settled) => this.#withCredits(error, settled));
  }

  #withCredits(error: GatewayError, { credits, micro }: SettledCharge): GatewayError {
    if (credits === undefined) return error;
    const headers: Record<string, string> = micro === 0 ? {} : { "x-credits-charged": creditText(micro) };
    const rules = this.settlement.reservation?.rules;
    return withHeaders(error, addRateHeaders(addCreditHeaders(headers, credits), credits.rates, rules));
  }

  #end(ending: Outcome): Soon<SettledCharge> {
    const { services, client, departure } = this;
    this.ending = ending;
    client.signal.removeEventListener("abort", this);
    services.body.pendingBodies.drop(client);
    const { meter } = this;
    // When the gateway itself aborted the call, nothing is known about the target. Nor when it was not asked.
    const isKnown = this.#abortReason === undefined && meter?.terms?.share === undefined;
    this.visit?.leave(isKnown ? verdictOf(ending) : "unknown", services.clock);
    if (ending.reason === "completed" && ending.error === undefined) meter?.terms?.completed?.(meter.progress);
    const outcome = departure === undefined ? ending : departure.ended(ending);
    // A request that the host's own provider refuses may never have reached a model.
    const isRefused = ending.error !== undefined && isRefusal(ending.error);
    const hasLeft = ending.reason === "client_gone" || (departure?.hasLeft === true && !isRefused);
    if (meter?.wasHandedOver && meter.terms?.share === undefined) this.settlement.reachedUpstream();
    const bill = meter?.bill(ending.reason, hasLeft);
    const charge = this.#chargeFor(bill);
    return charge instanceof Promise
      ? charge.then((settled) => this.#settled(outcome, ending.error, settled))
      : this.#settled(outcome, ending.error, charge);
  }

  #chargeFor(bill: ReturnType<Meter["bill"]> | undefined): Soon<SettledCharge> {
    const { ledgerOperation } = this.observer;
    const isObserved = ledgerOperation !== undefined && this.settlement.reservation !== undefined;
    return isObserved ? this.#observedCharge(bill, ledgerOperation) : this.#chargeNow(bill);
  }

  /** In a method of its own, as all that have closures: calls that nobody observes allocate nothing for them. */
  #observedCharge(bill: ReturnType<Meter["bill"]> | undefined, observe: ObserveLedger): Soon<SettledCharge> {
    return observedCharge(() => this.#chargeNow(bill), observe);
  }

  #chargeNow(bill: ReturnType<Meter["bill"]> | undefined): Soon<SettledCharge> {
    const { settlement, meter } = this;
    if (bill === undefined) return settlement.release(meter);
    return settlement.charge(bill.tokens, bill.source, meter?.terms?.share);
  }

  #settled(outcome: Outcome, error: GatewayError | undefined, charge: SettledCharge): SettledCharge {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.observer.ended(outcome, charge, this.meter?.progress);
    this.#warnOf(error);
    const { reservation } = this.settlement;
    if (reservation !== undefined && charge.micro > reservation.heldMicro) this.#warnOfCost(reservation, charge);
    this.#warnOfUnpriced(charge);
    this.admission.model.route.leave();
    this.services.openCalls.remove(this);
    return charge;
  }

  #warnOf(error: GatewayError | undefined): void {
    const [first] = this.admission.model.route.targets;
    const target = this.visit?.target ?? first;
    if (error === undefined || error === this.warned || target === undefined) return;
    warnOfUpstream(error, target, this.admission, this.services.warn);
  }

  #warnOfCost(reservation: Reservation, charge: SettledCharge): void {
    warnOfCost(this.services, this.admission, reservation, { target: this.visit?.target, charge });
  }

  #warnOfUnpriced({ tokens: { serviceTier: tier } }: SettledCharge): void {
    const unpriced = this.meter?.progress?.unpriced;
    if ((unpriced === undefined && tier === undefined) || this.visit === undefined) return;
    const { target } = this.visit;
    const warn = (what: string) => warnOfUnpriced(what, target, this.admission.model.id, this.services.warnOnce);
    if (unpriced !== undefined) warn(unpriced);
    const { tiers = [], free } = target.price;
    if (tier !== undefined && !free && !tiers.includes(tier)) warn(`service_tier=${tier}`);
  }

  /** Of the client's signal: it has gone. */
  handleEvent(): void {
    if (this.client.stalled) this.observer.clientStalled();
    if (this.clientLeft() === undefined) this.abort("client_gone");
  }

  /**
   * The client has left.
   * @returns what reads the response on for now; `undefined`: the call has nothing to wait for.
   */
  clientLeft(): Departure | undefined {
    const { stream } = this;
    if (this.departure !== undefined) {
      this.departure.clientGone();
    } else if (stream !== undefined && this.#charge === undefined && this.awaitsUsage && !this.isCounted) {
      const departure = new Departure("cancel", this);
      departure.whenLeft(() => void stream.readOn(departure));
      departure.clientGone();
      if (departure.hasLeft) this.departure = departure;
    }
    return this.departure;
  }

  /** Limits the time of the response, from now on. */
  #limit(ms: number): void {
    this.#startTimer(ms, () => {
      this.departure?.timeUp();
      this.abort("upstream_timeout");
      // The client may be stalled: it neither reads on nor leaves.
      this.#startTimer(lastGraceMs, () => this.abandon());
    });
  }

  #startTimer(ms: number, end: () => void): void {
    this.#timer = setTimeout(end, ms);
    // The timer need not keep the process alive: the client's connection does.
    if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  #toGatewayError(thrown: unknown): GatewayError {
    const aborted = this.#abortReason === undefined ? undefined : abortError(this.#abortReason);
    if (aborted !== undefined) return aborted;
    if (isGatewayError(thrown)) return thrown;
    return isUpstreamError(thrown)
      ? badGateway("The model did not answer. Try again.", { cause: thrown })
      : internalError(thrown);
  }
}
