import type { AttributeValue, Span } from "@opentelemetry/api";
import type { RequestCompleted } from "../events/request-completed.js";
import { imagesOf } from "../metering/usage-counts.js";
import { names } from "./names.js";

/** Sets what is known of a request when it has ended. One by one: an object of them would be made for nothing. */
export function setEndAttributes(span: Span, event: RequestCompleted): void {
  set(span, names.status, event.status);
  set(span, names.account, event.account);
  set(span, names.keyId, event.keyId);
  set(span, names.plan, event.plan);
  set(span, names.model, event.model);
  set(span, names.errorType, event.errorCode);
  set(span, names.errorCode, event.errorCode);
  set(span, names.endReason, event.endReason);
  set(span, names.disconnect, event.disconnect);
  if (event.model !== undefined) setCallAttributes(span, event, event.model);
}

/** Servers of traces price by the model that was called, so it is the target's own name. */
function setCallAttributes(span: Span, event: RequestCompleted, model: string): void {
  const { attempts, durations, finishReason } = event;
  const target = attempts.at(-1);
  set(span, names.requestModel, target?.model ?? model);
  set(span, names.provider, target?.provider);
  set(span, names.stream, event.stream);
  set(span, names.responseId, event.responseId);
  if (finishReason !== undefined) span.setAttribute(names.finishReasons, [finishReason]);
  set(span, names.attempts, attempts.length);
  set(span, names.charged, event.chargedMicro);
  set(span, names.cost, event.costMicro);
  set(span, names.held, event.heldMicro);
  set(span, names.usageSource, event.usageSource);
  if (event.stream && durations.firstByte !== undefined) set(span, names.firstChunk, durations.firstByte / 1000);
  if (event.usageSource !== undefined) setTokens(span, event.tokens);
}

function setTokens(span: Span, tokens: RequestCompleted["tokens"]): void {
  set(span, names.inputTokens, tokens.input);
  set(span, names.outputTokens, tokens.output);
  // Most calls have none of these.
  if (tokens.cachedInput) set(span, names.cacheReadTokens, tokens.cachedInput);
  if (tokens.cacheWrite) set(span, names.cacheWriteTokens, tokens.cacheWrite);
  if (tokens.reasoning) set(span, names.reasoningTokens, tokens.reasoning);
  set(span, names.images, imagesOf(tokens));
  set(span, names.audioMs, tokens.audioMs);
  set(span, names.characters, tokens.characters);
  set(span, names.searches, tokens.searches);
}

function set(span: Span, name: string, value: AttributeValue | undefined): void {
  if (value !== undefined) span.setAttribute(name, value);
}
