import {
  type Attributes,
  type AttributeValue,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { isFailure, type RequestCompleted, type UpstreamAttempt } from "../../events/request-completed.js";
import type { LedgerOperationCompleted } from "../../events/request-observer.js";
import type { AttemptStarted, ObservedRequest, RequestStarted } from "../../gateway/observers/observer.js";
import { imagesOf } from "../../prices/usage-counts.js";
import type { CallContent } from "../../protocols/shared/call-content.js";
import { type ResolvedContent, setContent } from "./content.js";
import { names, operationOf } from "./names.js";

/** Which operations of the ledger have spans. */
type LedgerDetails = "slow" | "all" | "none";

/** How spans belong to traces, and who else follows the request. */
export interface SpanOptions {
  readonly extract: boolean;
  readonly inject: boolean;
  readonly details: LedgerDetails;
  /** `undefined`: the span has nothing of prompts and answers. */
  readonly content: ResolvedContent | undefined;
  /** Is told after the span. */
  readonly also: ObservedRequest | undefined;
}

/** The span of one request, and those of its calls to model servers. */
export class RequestSpan implements ObservedRequest {
  readonly #tracer: Tracer;
  readonly #options: SpanOptions;
  readonly #operation: string;
  readonly #span: Span;
  readonly #context: Context;
  readonly #startedAt = now();
  readonly #attempts: Span[] = [];

  constructor(tracer: Tracer, request: RequestStarted, options: SpanOptions) {
    this.#tracer = tracer;
    this.#options = options;
    const endpoint = request.endpoint ?? "";
    this.#operation = operationOf(endpoint);
    const active = context.active();
    const hasParent = trace.getSpan(active) !== undefined;
    const parent = options.extract && !hasParent ? extracted(request) : active;
    const attributes: Attributes = {
      [names.operation]: this.#operation,
      [names.endpoint]: endpoint,
      [names.requestId]: request.requestId,
    };
    // The host's own instrumentation may have made a span of the server.
    const kind = hasParent ? SpanKind.INTERNAL : SpanKind.SERVER;
    this.#span = tracer.startSpan(this.#operation, { kind, attributes, startTime: this.#startedAt }, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  get contentCharacters(): number | undefined {
    return this.#options.content?.maxCharacters;
  }

  get isRecording(): boolean {
    return this.#span.isRecording();
  }

  run<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  runAttempt<T>(call: () => T): T {
    return context.with(this.#attemptContext, call);
  }

  /** The client's own would contradict that of the host's instrumentation of HTTP clients. */
  traceHeaders(): Record<string, string> {
    if (!this.#options.inject) return {};
    const carrier: Record<string, string> = {};
    propagation.inject(this.#attemptContext, carrier);
    const { traceparent, tracestate } = carrier;
    if (traceparent === undefined) return {};
    return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  }

  onAttempt({ provider, model }: AttemptStarted): void {
    const attributes = { [names.provider]: provider, [names.requestModel]: model };
    const options = { kind: SpanKind.CLIENT, attributes, startTime: now() };
    this.#attempts.push(this.#tracer.startSpan(`${this.#operation} ${model}`, options, this.#context));
  }

  onCompleted(event: RequestCompleted, content?: CallContent): void {
    let place = 0;
    for (const span of this.#attempts) this.#endAttempt(span, event.attempts[place++]);
    if (event.model !== undefined) this.#span.updateName(`${this.#operation} ${event.model}`);
    setEndAttributes(this.#span, event);
    if (isFailure(event)) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    const endedAt = now();
    try {
      const options = this.#options.content;
      if (content !== undefined && options !== undefined) setContent(this.#span, content, event, options);
    } finally {
      this.#span.end(endedAt);
      this.#options.also?.onCompleted(event);
    }
  }

  /** Those that were long enough to matter, or all. */
  onLedgerOperation(completed: LedgerOperationCompleted): void {
    const { operation, outcome, isRemote, durationMs } = completed;
    const { details, also } = this.#options;
    also?.onLedgerOperation?.(completed);
    if (details === "none" || (details === "slow" && !(isRemote && durationMs > slowMs))) return;
    const endTime = now();
    const attributes = { [names.ledgerOutcome]: outcome };
    const options = { kind: SpanKind.INTERNAL, attributes, startTime: endTime - durationMs };
    const span = this.#tracer.startSpan(`infergate.${operation}`, options, this.#context);
    if (outcome === "failed" || outcome === "kept") {
      span.setAttribute(names.errorType, outcome);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(endTime);
  }

  get #attemptContext(): Context {
    const last = this.#attempts.at(-1);
    return last === undefined ? this.#context : trace.setSpan(this.#context, last);
  }

  /** What became of an attempt is known when the request has ended. */
  #endAttempt(span: Span, attempt: UpstreamAttempt | undefined): void {
    if (attempt === undefined) {
      span.end(now());
      return;
    }
    const { status, outcome, upstreamRequestId, startedMs, durationMs } = attempt;
    span.setAttribute(names.outcome, outcome);
    if (status !== undefined) span.setAttribute(names.status, status);
    if (upstreamRequestId !== undefined) span.setAttribute(names.upstreamId, upstreamRequestId);
    if (!harmless.has(outcome)) {
      span.setAttribute(names.errorType, status === undefined || status === 200 ? outcome : String(status));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end(this.#startedAt + startedMs + durationMs);
  }
}

/** What takes less cannot have been what a request waited for. */
const slowMs = 1;

const harmless = new Set<string>(["completed", "client_gone", "shutdown"]);

/** Epoch milliseconds that never go back. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

const readsHeaders = {
  get: (request: RequestStarted, name: string) => request.header(name),
  keys: () => ["traceparent", "tracestate"],
};

function extracted(request: RequestStarted): Context {
  return propagation.extract(ROOT_CONTEXT, request, readsHeaders);
}

/** Sets what is known of a request when it has ended. One by one: an object of them would be made for nothing. */
function setEndAttributes(span: Span, event: RequestCompleted): void {
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
