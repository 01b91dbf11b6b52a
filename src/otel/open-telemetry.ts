import { type MeterProvider, metrics, type TracerProvider } from "@opentelemetry/api";
import type { ObservedRequest, Observer } from "../gateway/observers/observer.js";
import { type ContentOptions, resolveContent } from "./content-options.js";
import { CurrentTracer } from "./current-tracer.js";
import { RequestMetrics } from "./request-metrics.js";
import { RequestSpan, type SpanOptions } from "./request-span.js";

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Default: the one that the host has registered, whenever it does. */
  tracerProvider?: TracerProvider | undefined;
  /** Default: the one that the host has registered, whenever it does. */
  meterProvider?: MeterProvider | undefined;
  /**
   * Whether a request without an active span goes on with the trace of its `traceparent`. Then clients choose ids of traces,
   * and whether they are sampled. Default: `false`.
   */
  extract?: boolean | undefined;
  /**
   * Whether model servers get the `traceparent` of the call's span. An instrumentation of undici sends it by itself. Default:
   * `false`.
   */
  inject?: boolean | undefined;
  /**
   * Which operations of the ledger have spans, `infergate.reserve` and `infergate.settle`: those of a store that took more
   * than a millisecond, `all`, or `none`. Default: `slow`.
   */
  details?: "slow" | "all" | "none" | undefined;
  /**
   * What spans have of prompts and answers: nothing, or the beginnings of both. `true`: with the defaults. The variable
   * `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` turns it off where it is `false` or `NO_CONTENT`. Default: nothing.
   */
  content?: boolean | ContentOptions | undefined;
}

/**
 * Traces and metrics for OpenTelemetry: a span for each request, one for each call to a model server, and metrics. Names and
 * attributes are in `docs/observability.md`. Prompts and answers are in none unless `content` is set. Without an SDK that is registered it does nothing.
 *
 * @example
 * ```ts
 * createGateway({ observers: [openTelemetry()], ... });
 * ```
 *
 * @throws TypeError when an option is not valid.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Observer {
  const { tracerProvider, meterProvider, extract = false, inject = false, details = "slow" } = options;
  if (!["slow", "all", "none"].includes(details)) {
    throw new TypeError('openTelemetry: details must be "slow", "all" or "none".');
  }
  const tracers = new CurrentTracer(tracerProvider);
  // Tracers and instruments that were taken before the SDK was registered may do nothing for ever.
  const measured = new RequestMetrics(() => meterProvider ?? metrics.getMeterProvider());
  const ended: ObservedRequest = {
    onLedgerOperation: (operation) => measured.ledgerOperation(operation),
    onCompleted: (event) => measured.ended(event),
  };
  const content = resolveContent(options.content);
  const measuredSpan: SpanOptions = { extract, inject, details, content, also: ended };
  const spanAlone: SpanOptions = { ...measuredSpan, also: undefined };
  return {
    onStart: ({ health }) => measured.observeHealth(health),
    onRequest(request) {
      if (request.endpoint === undefined) return undefined;
      const tracer = tracers.get();
      const isMeasured = measured.begins(request.endpoint);
      const followed = isMeasured ? ended : undefined;
      if (tracer === undefined) return followed;
      const span = new RequestSpan(tracer, request, isMeasured ? measuredSpan : spanAlone);
      return span.isRecording ? span : followed;
    },
    onLedgerEvent: ({ type }) => measured.ledgerEvent(type),
    onWarning: ({ code }) => measured.warned(code),
  };
}
