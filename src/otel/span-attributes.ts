import type { Attributes } from "@opentelemetry/api";
import type { RequestCompleted } from "../events/request-completed.js";
import { names } from "./names.js";

/** What is known of a request when it has ended. What is `undefined` is left out. */
export function endAttributes(event: RequestCompleted): Attributes {
  return { ...requestAttributes(event), ...callAttributes(event) };
}

function requestAttributes(event: RequestCompleted): Attributes {
  return {
    [names.status]: event.status,
    [names.account]: event.account,
    [names.keyId]: event.keyId,
    [names.plan]: event.plan,
    [names.model]: event.model,
    [names.errorType]: event.errorCode,
    [names.errorCode]: event.errorCode,
    [names.endReason]: event.endReason,
    [names.disconnect]: event.disconnect,
  };
}

/** Servers of traces price by the model that was called, so it is the target's own name. */
function callAttributes(event: RequestCompleted): Attributes {
  const { attempts, tokens, usageSource, durations, finishReason } = event;
  if (event.model === undefined) return {};
  const target = attempts.at(-1);
  const call: Attributes = {
    [names.requestModel]: target?.model ?? event.model,
    [names.provider]: target?.provider,
    [names.stream]: event.stream,
    [names.responseId]: event.responseId,
    [names.finishReasons]: finishReason === undefined ? undefined : [finishReason],
    [names.attempts]: attempts.length,
    [names.charged]: event.chargedMicro,
    [names.cost]: event.costMicro,
    [names.held]: event.heldMicro,
    [names.usageSource]: usageSource,
  };
  if (event.stream && durations.firstByte !== undefined) call[names.firstChunk] = durations.firstByte / 1000;
  if (usageSource === undefined) return call;
  return {
    ...call,
    [names.inputTokens]: tokens.input,
    [names.outputTokens]: tokens.output,
    [names.cacheReadTokens]: tokens.cachedInput,
    [names.cacheWriteTokens]: tokens.cacheWrite,
    [names.reasoningTokens]: tokens.reasoning,
  };
}

/** A refusal is the client's fault, and a client that leaves is none. A stream that broke off has status 200. */
export function isFailure({ status, errorCode, endReason }: RequestCompleted): boolean {
  return status >= 500 || (status === 200 && errorCode !== undefined && endReason !== "client_gone");
}
