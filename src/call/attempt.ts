import { badGateway, type GatewayError, isGatewayError, upstreamTimeout } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import { endReasonOf, type Outcome } from "../events/outcome.js";
import { noCharge } from "../metering/charge.js";
import { isUpstreamError } from "../providers/upstream-provider.js";
import type { Target } from "../routing/target.js";
import { verdictOf } from "../routing/target-health.js";
import type { TargetVisit } from "../routing/target-visit.js";
import { AbortNotifier } from "./abort-notifier.js";
import type { SettledCharge } from "./call-settlement.js";
import type { Meter } from "./meter.js";
import type { ModelCall } from "./model-call.js";
import { brokenOff } from "./relay/until-aborted.js";
import { warnOfUpstream } from "./warn-of-upstream.js";

/** One attempt of a call at one target. As long as it has nothing for the client, its failure is not the call's. */
export class Attempt {
  readonly call: ModelCall;
  readonly target: Target;
  readonly meter: Meter;
  /** For the upstream: the call is broken off, or this attempt took too long. */
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

  /** Another target may have its turn as long as the client has nothing, even of a stream that stays silent. */
  get holdsStatus(): boolean {
    return this.target.timeoutMs !== undefined;
  }

  /**
   * Waits for what there is for the client, for the target's `timeoutMs` at most, even of a provider that does not heed
   * its signal.
   * @throws GatewayError, 504 when it took too long.
   */
  run<Answer>(work: (attempt: Attempt) => Promise<Answer>): Promise<Answer> {
    const { timeoutMs } = this.target;
    return timeoutMs === undefined ? work(this) : this.#within(timeoutMs, work);
  }

  /**
   * The target has something for the client: it works, and how the attempt ends is how the call ends.
   * @throws UpstreamError `aborted` when the attempt is over, and the call another target's.
   */
  commit(): void {
    if (this.notice.aborted && !this.call.notice.aborted) throw brokenOff();
    this.#state = "committed";
    this.#visit.confirm();
  }

  /** Ends the call through this attempt: not at all by a failure that the client does not get to see. */
  end(outcome: Outcome): Promise<SettledCharge> {
    const isHidden = this.#state === "waiting" && outcome.error !== undefined;
    if (isHidden || this.#state === "over") return Promise.resolve({ ...noCharge, windows: undefined });
    return this.call.end(outcome);
  }

  /**
   * The attempt has failed, and another one may follow.
   * @returns what it failed by.
   * @throws whatever ends the call at once.
   */
  failed(thrown: unknown): GatewayError {
    const { call, target } = this;
    const { admission, services, client } = call;
    const error = this.#toGatewayError(thrown);
    call.observer.attemptFailed(error);
    const used = call.meter?.reported ?? (error.cause instanceof UpstreamStatusError ? error.cause.used : undefined);
    const isPaid = admission.model.route.chargeFailedAttempts && used !== undefined;
    if (isPaid) call.settlement.addFailed(used);
    // A client that is still there pays for no failure; one that has left pays for what was begun, though once.
    if (isPaid || !client.signal.aborted) call.meter = undefined;
    // That the gateway closes is no failure of the target's.
    const isOurs = call.abortReason !== undefined;
    this.#visit.leave(isOurs ? "unknown" : verdictOf({ reason: endReasonOf(error), error }), services.clock);
    warnOfUpstream(error, target, admission, services.warn);
    call.warned = error;
    return error;
  }

  #toGatewayError(thrown: unknown): GatewayError {
    if (isGatewayError(thrown)) return thrown;
    const { notice, client } = this.call;
    // A provider that says "aborted" without having been aborted is one that failed.
    if (!isUpstreamError(thrown) || notice.aborted || client.signal.aborted) throw thrown;
    return badGateway("The model did not answer. Try again.", { cause: thrown });
  }

  #within<Answer>(timeoutMs: number, work: (attempt: Attempt) => Promise<Answer>): Promise<Answer> {
    const { notice, call } = this;
    const abort = (): void => notice.abort();
    call.notice.addEventListener("abort", abort);
    if (call.notice.aborted) abort();
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#state = "over";
        call.notice.removeEventListener("abort", abort);
        reject(upstreamTimeout(new Error(`The target had nothing for the client within its ${timeoutMs} ms.`)));
        notice.abort();
      }, timeoutMs);
      // The client's connection keeps the process alive as long as need be.
      if (typeof timer === "object") timer.unref?.();
      work(this)
        .finally(() => clearTimeout(timer))
        .then(resolve, reject);
    });
  }
}
