import type { LoggedRequest } from "../../books/requests/logged-request.js";
import { toCredits, toSeconds } from "../server/units.js";
import { orNull } from "./operator-input.js";
import type { OperatorRequest } from "./operator-page-api.js";

/** Neither what was asked and answered, nor what a model server said: it may hold parts of prompts. */
export function toOperatorRequest(request: LoggedRequest): OperatorRequest {
  const { requestId, startedAt, stream, status, tags, tokens, durations, attempts, count = 1 } = request;
  const { endpoint, account, plan, keyId, source, model, requestedModel, target, errorCode, endReason } = request;
  return {
    ...{ id: requestId, at: toSeconds(startedAt), endpoint: orNull(endpoint), account: orNull(account) },
    ...{ plan: orNull(plan), key: orNull(keyId), source: orNull(source), tags: tags ?? {}, model: orNull(model) },
    ...{ requested_model: orNull(requestedModel), target: orNull(target), stream, status },
    ...{ code: orNull(errorCode), end: orNull(endReason), cached: request.usageSource === "cache" },
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    credits: toCredits(request.chargedMicro),
    cost: toCredits(orNull(request.costMicro)),
    duration_ms: Math.round(durations.total),
    first_output_ms: durations.firstByte === undefined ? null : Math.round(durations.firstByte),
    count,
    attempts: attempts.map((attempt) => ({
      provider: attempt.provider,
      model: attempt.model,
      status: orNull(attempt.status),
      outcome: attempt.outcome,
      started_ms: Math.round(attempt.startedMs),
      duration_ms: Math.round(attempt.durationMs),
      upstream_request_id: orNull(attempt.upstreamRequestId),
    })),
  };
}
