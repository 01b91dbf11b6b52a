import { isAskedTooMuch } from "../errors/asked-too-much.js";
import { badGateway, type GatewayError, isGatewayError, upstreamTimeout } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import { endReasonOf, type Outcome } from "../events/outcome.js";
import type { GatewayResponse } from "../http/message.js";
import type { Clock } from "../ledger/clock.js";
import { noCharge } from "../metering/charge.js";
import { requiredOutputCap } from "../operations/most-output-tokens.js";
import type { AttemptFacts } from "../operations/operation.js";
import { headerSecrets } from "../providers/header-secrets.js";
import { isUpstreamError } from "../providers/upstream-provider.js";
import { KeyMask } from "../redaction/key-mask.js";
import type { Target } from "../routing/target.js";
import { verdictOf } from "../routing/target-health.js";
import type { TargetVisit } from "../routing/target-visit.js";
import { AbortNotifier } from "./abort-notifier.js";
import type { SettledCharge } from "./call-settlement.js";
import type { Meter } from "./meter.js";
import type { ModelCall } from "./model-call.js";
import type { HeldResponse } from "./relay/held-response.js";
import { brokenOff } from "./relay/until-aborted.js";
import type { Soon } from "./soon.js";
import { warnOfUpstream } from "./warn-of-upstream.js";

const nothingCharged: SettledCharge = { ...noCharge, credits: undefined, funding: undefined, prepaidMicro: 0 };

/** What an attempt has for the client. */
export type Relayed = GatewayResponse | HeldResponse;

/**
 * Gets what becomes of an attempt: one of the two, once. A failure does not come while the attempt is being made, or the call
 * is being aborted, but in a turn of its own. Neither throws.
 */
export interface AttemptListener {
  responded(attempt: Attempt, response: Relayed): void;
  /** @param thrown - a GatewayError for the client, or an {@link UpstreamError} `aborted`. */
  failed(attempt: Attempt, thrown: unknown): void;
}

/** Makes an attempt. What it throws is a failure, too. */
type Work = (attempt: Attempt, listener: AttemptListener) => void;

/** One attempt of a call at one target. Until it has something for the client, its failure does not end the call. */
export class Attempt implements AttemptFacts {
  readonly call: ModelCall;
  readonly target: Target;
  readonly meter: Meter;
  /** Tells the provider to stop: the call was aborted, or this attempt took too long. */
  readonly notice: AbortNotifier;
  readonly #visit: TargetVisit;
  #state: "waiting" | "committed" | "over" = "waiting";

  constructor(call: ModelCall, visit: TargetVisit) {
    this.call = call;
    this.target = visit.target;
    this.meter = call.enter(visit);
    this.notice = visit.target.timeoutMs === undefined ? call.notice : new AbortNotifier();
    this.#visit = visit;
  }

  /** Takes what must not get out of what the target's server says beside the model's words. */
  get keyMask(): KeyMask | undefined {
    const mask = this.target.keyMask();
    const headers = this.call.admission.additions?.headers;
    if (headers === undefined) return mask;
    const { keys } = headerSecrets(headers);
    return mask === undefined ? KeyMask.of(keys) : mask.with(keys);
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
    return this.#visit.since;
  }

  get clock(): Clock {
    return this.call.services.clock;
  }

  /** Whether another target may still be tried while this one's stream is open but has sent no event. */
  get holdsStatus(): boolean {
    return this.target.timeoutMs !== undefined && this.#state !== "committed";
  }

  /**
   * Runs the work until there is something for the client, at most for the target's `timeoutMs`. The limit also holds
   * for a provider that ignores its signal.
   * @param listener - gets a GatewayError 504 when it took too long.
   */
  run(work: Work, listener: AttemptListener): void {
    const { timeoutMs } = this.target;
    if (timeoutMs === undefined) work(this, listener);
    else {
      this.#within(timeoutMs, work).then(
        (response) => listener.responded(this, response),
        (thrown) => listener.failed(this, thrown),
      );
    }
  }

  /**
   * The target has something for the client: from now on, the end of this attempt is the end of the call.
   * @throws UpstreamError `aborted` when the attempt is over and another one has taken its place.
   */
  commit(): void {
    if (this.notice.aborted && !this.call.notice.aborted) throw brokenOff();
    this.#state = "committed";
    if (this.meter.terms?.share === undefined) this.#visit.confirm();
    this.call.committed();
  }

  /** Ends the call with this attempt's outcome. A failure that the client does not see does not end the call. */
  end(outcome: Outcome): Soon<SettledCharge> {
    const isHidden = this.#state === "waiting" && outcome.error !== undefined;
    if (isHidden || this.#state === "over") return nothingCharged;
    // While the ledger settles the call, its time-out must not send it to another target.
    this.#state = "committed";
    return this.call.end(outcome);
  }

  /**
   * Records that the attempt has failed. Another one may follow.
   * @returns the failure.
   * @throws what ends the call at once.
   */
  failed(thrown: unknown): GatewayError {
    const { call, target } = this;
    const { admission, services, client } = call;
    const error = this.#toGatewayError(thrown);
    const used = call.meter?.reported ?? (error.cause instanceof UpstreamStatusError ? error.cause.used : undefined);
    const isPaid = used !== undefined && (admission.model.route.chargeFailedAttempts || isTheClients(error));
    // A client that is still connected does not pay for a failed attempt. A client that has left pays for one attempt.
    const isOver = isPaid || !client.signal.aborted;
    call.observer.attemptFailed(error, isOver && used ? call.settlement.addFailed(used, isPaid) : undefined);
    if (this.meter.wasHandedOver) call.settlement.reachedUpstream();
    if (isOver && !isAskedTooMuch(error)) call.meter = undefined;
    // When the gateway itself ended the call, the target did not fail.
    const isOurs = call.abortReason !== undefined;
    this.#visit.leave(isOurs ? "unknown" : verdictOf({ reason: endReasonOf(error), error }), services.clock);
    warnOfUpstream(error, target, admission, services.warn);
    call.warned = error;
    return error;
  }

  #toGatewayError(thrown: unknown): GatewayError {
    if (isGatewayError(thrown)) return thrown;
    const { notice, client } = this.call;
    // A provider that reports "aborted" although the gateway aborted nothing has failed.
    if (!isUpstreamError(thrown) || notice.aborted || client.signal.aborted) throw thrown;
    return badGateway("The model did not answer. Try again.", { cause: thrown });
  }

  #within(timeoutMs: number, work: Work): Promise<Relayed> {
    const { notice, call } = this;
    const abort = (): void => notice.abort();
    call.notice.addEventListener("abort", abort);
    if (call.notice.aborted) abort();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (this.#state === "committed") return;
        this.#state = "over";
        call.notice.removeEventListener("abort", abort);
        reject(upstreamTimeout(new Error(`The target had nothing for the client within its ${timeoutMs} ms.`)));
        notice.abort();
      }, timeoutMs);
      // The timer need not keep the process alive: the client's connection does.
      if (typeof timer === "object") timer.unref?.();
      const done = new Promise<Relayed>((answered, failed) => {
        work(this, { responded: (_, response) => answered(response), failed: (_, thrown) => failed(thrown) });
      });
      done.finally(() => clearTimeout(timer)).then(resolve, reject);
    });
  }
}

/** Whether the request is at fault. What was done for it until that showed is its client's to pay. */
function isTheClients({ status, cause }: GatewayError): boolean {
  return status === 400 && cause instanceof UpstreamStatusError;
}
