import { badGateway, type GatewayError, internalError, isGatewayError, withHeaders } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/refusal.js";
import { endReasonOf, type Outcome, type RequestObserver } from "../events/request-observer.js";
import type { GatewayRequest } from "../http/message.js";
import type { Tags } from "../prices/tags.js";
import type { Operation } from "../protocols/shared/operation.js";
import { type ClientCall, directCallOf } from "../providers/direct-call.js";
import { isUpstreamError } from "../providers/upstream-provider.js";
import { type UpstreamSecrets, withSecrets } from "../redaction/upstream-secrets.js";
import { type Target, type TargetVisit, verdictOf } from "../routing/target.js";
import { letProcessEnd } from "../runtime/let-process-end.js";
import { AbortNotifier } from "./abort-notifier.js";
import { addCreditHeaders, addRateHeaders, creditText } from "./admission/credit-headers.js";
import type { Reservation } from "./admission/hold-credits.js";
import type { CallServices } from "./call-services.js";
import { CallSettlement, type SettledCharge } from "./call-settlement.js";
import { warnOfCost, warnOfUnpriced, warnOfUpstream } from "./call-warnings.js";
import type { CheckedCall, ReceivedCall } from "./checked-call.js";
import { Departure } from "./departure.js";
import { type ResponseReview, reviewOf } from "./guarded/response-review.js";
import type { Meter } from "./meter.js";
import { type AbortReason, lastGraceMs, type OpenCall } from "./open-calls.js";
import { abortError } from "./relay/abort-error.js";
import { traceHeaders } from "./relay/trace-headers.js";

/** A response that can be read without its client. */
export interface ReadableOn {
  /** Reads the rest, as long as the departure lets it. */
  readOn(departure: Departure): Promise<void>;
}

/** The attempt that a call is at. */
export interface CurrentAttempt {
  readonly target: Target;
  /** What no client reads of the target's errors beside the secrets of its provider; `undefined`: nothing. */
  readonly hidden: UpstreamSecrets | undefined;
  readonly visit: TargetVisit;
  /** What its target has done for the call. */
  readonly meter: Meter;
  /** It has failed, and nobody is charged for what it has done. */
  readonly isForgiven: boolean;
}

/** An admitted call, from its hold to its settlement: how far it is, and how it has ended. */
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
  readonly review: ResponseReview | undefined;
  /** Tells the provider to stop: the call was aborted. */
  readonly notice = new AbortNotifier();
  /** Further headers for upstreams: the trace to which the request belongs. */
  readonly trace: Readonly<Record<string, string>> | undefined;
  /** How it has ended. */
  ending: Outcome | undefined;
  /** The failed attempt of which the host has been warned already. */
  warned: GatewayError | undefined;
  #attempt: CurrentAttempt | undefined;
  #abortReason: AbortReason | undefined;
  #charge: Promise<SettledCharge> | undefined;
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
    this.review = services.responseGuards && reviewOf(this, services.responseGuards, operation);
  }

  /** Starts the call. From here on it always ends by {@link end}. @param number - of the call that was expected. */
  begin(number: number): void {
    const { openCalls, limits } = this.services;
    this.number = number;
    openCalls.add(this);
    this.observer.admitted(this.admission.callId, this.settlement.reservation?.heldMicro ?? 0);
    if (this.ending === undefined) this.settlement.keepLease(this);
    if (limits.maxResponseMs !== undefined) this.#limit(limits.maxResponseMs);
    if (this.client.signal.aborted) this.handleEvent();
    else this.client.signal.addEventListener("abort", this);
  }

  /** What is charged for so far: of the attempt that the call is at. `undefined`: nothing. */
  get meter(): Meter | undefined {
    return this.#attempt?.isForgiven === true ? undefined : this.#attempt?.meter;
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
    const provider = this.#attempt?.visit.target.provider;
    if (provider === undefined || directCallOf(provider) === undefined) return;
    request.letGo();
    this.services.body.pendingBodies.drop(this.client);
  }

  /** Files the call under these, too. */
  tag(tags: Tags): void {
    this.observer.tagged(this.settlement.tag(tags));
  }

  /** An attempt begins. */
  enter(attempt: CurrentAttempt): void {
    const { target } = attempt.visit;
    this.#attempt = attempt;
    this.settlement.goesTo(target);
    const { hidden } = attempt;
    this.observer.attemptStarted(
      hidden === undefined ? target : { ...target, secrets: () => withSecrets(target.secrets?.(), hidden) },
    );
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
  end(ending: Outcome): Promise<SettledCharge> {
    if (this.#charge === undefined) {
      // What the host's code does as it is told of the end may lead back here, before there is a charge.
      if (this.ending !== undefined) return Promise.resolve().then(() => this.#charge as Promise<SettledCharge>);
      this.#charge = this.#end(ending);
    }
    return this.#charge;
  }

  /** Ends the call with a thrown error. @returns the error for the client. */
  async fail(thrown: unknown): Promise<GatewayError> {
    const error = this.#toGatewayError(thrown);
    const isGone = this.departure?.hasLeft === true && isUpstreamError(thrown);
    const reason = this.#abortReason ?? endReasonOf(error);
    const { credits, micro } = await this.end(isGone ? { reason: "client_gone" } : { reason, error });
    if (credits === undefined) return error;
    const headers: Record<string, string> = micro === 0 ? {} : { "x-credits-charged": creditText(micro) };
    const rules = this.settlement.reservation?.rules;
    return withHeaders(error, addRateHeaders(addCreditHeaders(headers, credits), credits.rates, rules));
  }

  async #end(ending: Outcome): Promise<SettledCharge> {
    const { services, client, departure, settlement, meter, observer } = this;
    const { reason, error } = ending;
    this.ending = ending;
    client.signal.removeEventListener("abort", this);
    services.body.pendingBodies.drop(client);
    // When the gateway itself aborted the call, nothing is known about the target. Nor when it was not asked.
    const isAsked = meter?.terms?.share === undefined;
    const verdict = this.#abortReason === undefined && isAsked ? verdictOf(ending) : "unknown";
    this.#attempt?.visit.leave(verdict, services.clock);
    const isGood = reason === "completed" && error === undefined && this.review?.hasPassed !== false;
    if (isGood) meter?.terms?.completed?.(meter.progress);
    const outcome = departure === undefined ? ending : departure.ended(ending);
    // A request that the host's own provider refuses may never have reached a model.
    const isRefused = error !== undefined && isRefusal(error);
    const hasLeft = reason === "client_gone" || (departure?.hasLeft === true && !isRefused);
    if (meter?.wasHandedOver && isAsked) settlement.reachedUpstream();
    const due = settlement.endsWith(meter?.bill(reason, hasLeft), meter);
    const observe = settlement.reservation === undefined ? undefined : observer.ledgerOperation;
    const from = observe === undefined ? 0 : performance.now();
    let isRemote = false;
    let charge: SettledCharge;
    try {
      const settling = settlement.settle(due);
      isRemote = settling instanceof Promise;
      charge = settlement.settled(due, settling instanceof Promise ? await settling : settling);
    } catch (cause) {
      charge = settlement.unsettled(due, cause);
    }
    observe?.({
      operation: "settle",
      outcome: charge.unsettled ?? "settled",
      isRemote,
      durationMs: performance.now() - from,
    });
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    observer.ended(outcome, charge, this.meter?.progress);
    this.#warn(error, charge);
    this.admission.model.route.leave();
    services.openCalls.remove(this);
    return charge;
  }

  #warn(error: GatewayError | undefined, charge: SettledCharge): void {
    const { services, admission, settlement } = this;
    const called = this.#attempt?.target;
    const target = called ?? admission.model.route.targets[0];
    if (error !== undefined && error !== this.warned && target !== undefined) {
      warnOfUpstream(error, this.#attempt ?? { target, hidden: undefined }, admission, services.warn);
    }
    if (called === undefined) return;
    const { heldMicro } = settlement.reservation ?? {};
    if (heldMicro !== undefined) warnOfCost(services, admission, heldMicro, charge, called);
    const unpriced = this.meter?.progress?.unpriced;
    if (unpriced !== undefined || charge.tokens.serviceTier !== undefined) {
      warnOfUnpriced(unpriced, charge, admission.model.id, called, services.warnOnce);
    }
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
    } else if (stream !== undefined && this.ending === undefined && this.awaitsUsage && !this.isCounted) {
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
    letProcessEnd(this.#timer);
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
