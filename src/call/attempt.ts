import {
  badGateway,
  type GatewayError,
  isGatewayError,
  ownKeyLimited,
  ownKeyRefused,
  upstreamTimeout,
} from "../errors/gateway-error.js";
import { isAskedTooMuch } from "../errors/refusal.js";
import { UpstreamStatusError } from "../errors/upstream-fault.js";
import { endReasonOf, type Outcome } from "../events/request-observer.js";
import type { Clock } from "../ledger/calendar.js";
import { noCharge } from "../prices/charge.js";
import { requiredOutputCap } from "../protocols/shared/demand.js";
import type { AttemptFacts } from "../protocols/shared/operation.js";
import { type HeaderSecrets, headerSecrets } from "../providers/headers.js";
import { isUpstreamError } from "../providers/upstream-provider.js";
import { KeyMask } from "../redaction/key-mask.js";
import { longestRestMs, type Target, type TargetVisit, verdictOf } from "../routing/target.js";
import { letProcessEnd } from "../runtime/let-process-end.js";
import { AbortNotifier } from "./abort-notifier.js";
import type { SettledCharge } from "./call-settlement.js";
import { warnOfUpstream } from "./call-warnings.js";
import { Meter } from "./meter.js";
import type { CurrentAttempt, ModelCall } from "./model-call.js";
import { brokenOff } from "./relay/until-aborted.js";

/** How long an own key rests that its server refuses, in milliseconds: somebody may top up or correct it there. */
const refusedMs = 10_000;

const nothingCharged: SettledCharge = { ...noCharge, credits: undefined, funding: undefined, prepaidMicro: 0 };

/** One attempt of a call at one target. Until it has something for the client, its failure does not end the call. */
export class Attempt implements AttemptFacts, CurrentAttempt {
  readonly call: ModelCall;
  readonly target: Target;
  /** What the target has done for the call. */
  readonly meter: Meter;
  /** Tells the provider to stop: the call was aborted, or this attempt took too long. */
  readonly notice: AbortNotifier;
  readonly visit: TargetVisit;
  /** It has failed, and nobody is charged for what it has done. */
  isForgiven = false;
  #state: "waiting" | "committed" | "late" = "waiting";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(call: ModelCall, visit: TargetVisit) {
    this.call = call;
    this.target = visit.target;
    this.visit = visit;
    this.meter = new Meter(call.admission, call.services.clock);
    const { timeoutMs } = visit.target;
    this.notice = timeoutMs === undefined ? call.notice : this.#noticeWithin(timeoutMs);
    call.enter(this);
  }

  /** Takes what must not get out of what the target's server says beside the model's words. */
  get keyMask(): KeyMask | undefined {
    const mask = this.target.keyMask();
    const { hidden } = this;
    if (hidden === undefined) return mask;
    return mask === undefined ? KeyMask.of(hidden.keys) : mask.with(hidden.keys);
  }

  /** The account's own key with the target's server; `undefined`: the operator's is used. */
  get ownKey(): string | undefined {
    return this.call.admission.choice?.ownKeys?.get(this.target.provider);
  }

  /** What no client reads of the target's errors beside the secrets of its provider; `undefined`: nothing. */
  get hidden(): HeaderSecrets | undefined {
    const { ownKey } = this;
    const headers = this.call.admission.additions?.headers;
    if (headers === undefined && ownKey === undefined) return undefined;
    const { keys, texts } = headerSecrets(headers ?? {});
    return { keys: ownKey === undefined ? keys : [...keys, ownKey], texts };
  }

  get requestId(): string {
    return this.call.admission.requestId;
  }

  get callId(): string {
    return this.call.admission.callId;
  }

  get promptTokens(): number {
    return this.call.admission.demand.promptTokens;
  }

  get addedCap(): number | undefined {
    return this.call.admission.demand.addedCap;
  }

  get outputCap(): number {
    return this.call.admission.demand.outputTokens;
  }

  /** See `UpstreamCall.outputCap`. */
  get requiredCap(): number | undefined {
    const { model, demand } = this.call.admission;
    const { outputTokens, addedCap } = demand;
    return outputTokens > 0 ? Math.min(requiredOutputCap(model, addedCap), outputTokens) : undefined;
  }

  get admittedAt(): number {
    return this.call.admission.admittedAt;
  }

  get startedAt(): number {
    return this.visit.since;
  }

  get clock(): Clock {
    return this.call.services.clock;
  }

  /** Whether another target may still be tried while this one's stream is open but has sent no event. */
  get holdsStatus(): boolean {
    return this.target.timeoutMs !== undefined && this.#state !== "committed";
  }

  /** Whether the end of this attempt is the end of the call: no other target is tried after it. */
  get isCommitted(): boolean {
    return this.#state === "committed";
  }

  /**
   * The target has something for the client: from now on, the end of this attempt is the end of the call.
   * @throws UpstreamError `aborted` when it comes too late.
   */
  commit(): void {
    if (this.notice.aborted && !this.call.notice.aborted) throw brokenOff();
    this.#state = "committed";
    clearTimeout(this.#timer);
    if (this.meter.terms?.share === undefined) this.visit.confirm();
    this.call.committed();
  }

  /** The whole response has come. To read it is the gateway's own work: the target's time is no longer limited. */
  cameWhole(): void {
    clearTimeout(this.#timer);
  }

  /** Ends the call with this attempt's outcome. A failure that the client does not see does not end the call. */
  end(outcome: Outcome): Promise<SettledCharge> {
    const isHidden = this.#state === "waiting" && outcome.error !== undefined;
    if (isHidden || this.#state === "late") return Promise.resolve(nothingCharged);
    // While the ledger settles the call, its time-out must not send it to another target.
    this.#state = "committed";
    clearTimeout(this.#timer);
    return this.call.end(outcome);
  }

  /**
   * Records that the attempt has failed. Another one may follow.
   * @returns the failure.
   * @throws what ends the call at once.
   */
  failed(thrown: unknown): GatewayError {
    const { call } = this;
    const { admission, services, client } = call;
    clearTimeout(this.#timer);
    const error = this.#toGatewayError(thrown);
    const used = this.meter.reported ?? (error.cause instanceof UpstreamStatusError ? error.cause.used : undefined);
    const isPaid = used !== undefined && (admission.model.route.chargeFailedAttempts || isTheClients(error));
    // A client that is still connected does not pay for a failed attempt. A client that has left pays for one attempt.
    const isOver = isPaid || !client.signal.aborted;
    // Nobody has asked the target where the response was made for an earlier call.
    const { terms } = this.meter;
    const isKept = terms?.share !== undefined;
    const failed = isOver && used && !isKept ? call.settlement.addFailed(used, isPaid) : undefined;
    call.observer.attemptFailed(error, failed);
    if (this.meter.wasHandedOver && !isKept) call.settlement.reachedUpstream();
    this.isForgiven = isOver && !isAskedTooMuch(error);
    // When the gateway itself ended the call, the target did not fail.
    const isOurs = call.abortReason !== undefined || isKept;
    this.visit.leave(isOurs ? "unknown" : verdictOf({ reason: endReasonOf(error), error }), services.clock);
    if (!isKept) warnOfUpstream(error, this, admission, services.warn);
    call.warned = error;
    terms?.failed?.();
    return error;
  }

  #toGatewayError(thrown: unknown): GatewayError {
    if (this.#state === "late") {
      const { timeoutMs } = this.target;
      return upstreamTimeout(new Error(`The target had nothing for the client within its ${timeoutMs} ms.`));
    }
    if (isGatewayError(thrown)) return this.ownKey === undefined ? thrown : this.#ofOwnKey(thrown, this.ownKey);
    const { notice, client } = this.call;
    // A provider that reports "aborted" although the gateway aborted nothing has failed.
    if (!isUpstreamError(thrown) || notice.aborted || client.signal.aborted) throw thrown;
    return badGateway("The model did not answer. Try again.", { cause: thrown });
  }

  /** Its account alone is told that the server refuses its own key, or finds it at its limit. The key rests for a while. */
  #ofOwnKey(error: GatewayError, key: string): GatewayError {
    const { cause } = error;
    if (!(cause instanceof UpstreamStatusError)) return error;
    const { services, admission } = this.call;
    const { refusesKey, status, retryAfterMs } = cause;
    const asked = status === 429 ? Math.min(retryAfterMs ?? 0, longestRestMs) : 0;
    const restMs = refusesKey === true ? refusedMs : asked;
    const isLimited = status === 429 && refusesKey === false;
    const limited = isLimited ? ownKeyLimited(error.headers["retry-after"], cause) : error;
    const told = refusesKey === false ? limited : ownKeyRefused(cause);
    const now = services.clock.now();
    const rest = { until: now + restMs, error: told };
    if (restMs > 0) services.ownKeyRests.add(admission.caller.account, this.target, key, rest, now);
    return told;
  }

  /** Told of the end of the call, and when the target has had nothing for the client for so long. */
  #noticeWithin(timeoutMs: number): AbortNotifier {
    const notice = new AbortNotifier();
    const abort = (): void => notice.abort();
    const ofCall = this.call.notice;
    if (ofCall.aborted) abort();
    else ofCall.addEventListener("abort", abort);
    this.#timer = setTimeout(() => {
      if (this.#state === "committed") return;
      this.#state = "late";
      abort();
    }, timeoutMs);
    // The timer need not keep the process alive: the client's connection does.
    letProcessEnd(this.#timer);
    return notice;
  }
}

/** Whether the request is at fault. What was done for it until that showed is its client's to pay. */
function isTheClients({ status, cause }: GatewayError): boolean {
  return status === 400 && cause instanceof UpstreamStatusError;
}
