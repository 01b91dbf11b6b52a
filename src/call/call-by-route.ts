import { badGateway, type GatewayError } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import { type AbortNotice, isUpstreamError } from "../providers/upstream-provider.js";
import { callTargets } from "../routing/call-targets.js";
import { endReasonOf } from "../routing/outcome.js";
import type { Target } from "../routing/target.js";
import { verdictOf } from "../routing/target-health.js";
import type { Route } from "../routing/target-route.js";
import { Attempt } from "./attempt.js";
import { type Demand, Meter } from "./meter.js";
import type { Call } from "./open-calls.js";
import type { Pipeline } from "./pipeline.js";
import type { RequestLog } from "./request-log.js";
import type { Settlement } from "./settle.js";
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
  readonly demand: Demand;
}

/**
 * Makes a call by way of several targets, or of one that may be tried again.
 *
 * @param send - makes one attempt, through the attempt's `notice` and `ending`. Resolves when there is something for the client.
 */
export function callByRoute<Answer>(
  { clock, warn }: Pick<Pipeline, "clock" | "warn">,
  { model, route, call, settlement, log, client, demand }: RoutedCall,
  send: (target: Target, attempt: Attempt, meter: Meter) => Promise<Answer>,
): Promise<Answer> {
  const attempt = async (target: Target): Promise<Answer> => {
    const one = new Attempt(call.notice, target);
    const meter = new Meter(demand, clock);
    call.meter = meter;
    settlement.priceBy(target.price);
    log.upstreamCalled(target);
    try {
      return await one.run(() => send(target, one, meter));
    } catch (thrown) {
      // A provider that says "aborted" without having been told to is one that failed.
      if (!isUpstreamError(thrown) || call.notice.aborted || client.aborted) throw thrown;
      throw badGateway("The model did not answer. Try again.", { cause: thrown });
    }
  };

  const failed = (target: Target, error: GatewayError): void => {
    log.attemptFailed(error);
    const used = call.meter?.reported ?? (error.cause instanceof UpstreamStatusError ? error.cause.used : undefined);
    const isPaid = route.chargeFailedAttempts && used !== undefined;
    if (isPaid) settlement.addFailed(used);
    // A client that is still there pays for no failure; one that has left pays for what was begun, though once.
    if (isPaid || !client.aborted) call.meter = undefined;
    // That the gateway closes is no failure of the target's.
    const isOurs = call.abortReason !== undefined;
    call.leaveTarget(isOurs ? "unknown" : verdictOf({ reason: endReasonOf(error), error }), clock);
    warnOfUpstream(error, model, target, warn, log.requestId);
    call.reported = error;
  };

  return callTargets({ route, call, client, clock, attempt, failed });
}
