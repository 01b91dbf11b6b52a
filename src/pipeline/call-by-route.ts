import { badGateway, type GatewayError } from "../openai/errors.js";
import { UpstreamStatusError } from "../openai/upstream-status-error.js";
import { noTokens, type TokenCounts } from "../openai/usage.js";
import { type AbortNotice, isUpstreamError } from "../providers/upstream-provider.js";
import { Attempt } from "./attempt.js";
import { callTargets } from "./call-targets.js";
import type { Call } from "./in-flight.js";
import type { Pipeline } from "./pipeline.js";
import type { RequestLog } from "./request-log.js";
import type { Route } from "./route.js";
import { type Charge, endReasonOf, type Outcome, type Settlement } from "./settle.js";
import type { Target } from "./target.js";
import { verdictOf } from "./target-health.js";
import { warnOfUpstream } from "./warn-of-upstream.js";

/** An admitted call that has not been to any target yet. */
export interface RoutedCall {
  /** The model as the client named it. */
  readonly model: string;
  readonly route: Route;
  readonly call: Call;
  readonly settlement: Settlement;
  readonly log: RequestLog;
  /** Aborted when the client has left. */
  readonly client: AbortNotice;
  readonly finish: (outcome: Outcome) => Charge | Promise<Charge>;
}

/**
 * Makes a call by way of several targets, or of one that may be tried again.
 *
 * @param send - makes one attempt, through the attempt's `notice`, `isOver` and `ending`. Resolves when there is something for the client.
 */
export function callByRoute<Answer>(
  { clock, warn }: Pick<Pipeline, "clock" | "warn">,
  { model, route, call, settlement, log, client, finish }: RoutedCall,
  send: (target: Target, attempt: Attempt) => Promise<Answer>,
): Promise<Answer> {
  let reported: TokenCounts | undefined;

  const attempt = async (target: Target): Promise<Answer> => {
    const one = new Attempt(call.notice, target);
    settlement.priceBy(target.price);
    log.upstreamCalled(target);
    try {
      return await one.run(() => send(target, one));
    } catch (thrown) {
      // A provider that says "aborted" without having been told to is one that failed.
      if (!isUpstreamError(thrown) || call.notice.aborted || client.aborted) throw thrown;
      throw badGateway("The model did not answer. Try again.", { cause: thrown });
    } finally {
      reported = one.reported;
    }
  };

  const failed = (target: Target, error: GatewayError): void => {
    log.attemptFailed(error);
    const used = reported ?? (error.cause instanceof UpstreamStatusError ? error.cause.used : undefined);
    if (route.chargeFailedAttempts && used !== undefined) settlement.addFailed(used);
    // What has come so far is not the client's.
    settlement.hold();
    call.whenAbandoned((reason) => finish({ reason, tokens: noTokens, source: undefined }));
    // That the gateway closes is no failure of the target's.
    const isOurs = call.abortReason !== undefined;
    call.leaveTarget(isOurs ? "unknown" : verdictOf({ reason: endReasonOf(error), error }), clock);
    warnOfUpstream(error, model, target, warn, log.requestId);
    call.reported = error;
  };

  return callTargets({ route, call, client, clock, attempt, failed });
}
