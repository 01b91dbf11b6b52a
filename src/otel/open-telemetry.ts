import { type MeterProvider, metrics, type TracerProvider, trace } from "@opentelemetry/api";
import type { Observer } from "../gateway/observers/observer.js";
import { RequestMetrics } from "./request-metrics.js";
import { RequestSpan } from "./request-span.js";

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
}

/**
 * Traces and metrics for OpenTelemetry: a span for each request, one for each call to a model server, and metrics. Names and
 * attributes are in `docs/observability.md`. Prompts and answers are in none. Without an SDK that is registered it does nothing.
 *
 * @example
 * ```ts
 * createGateway({ observers: [openTelemetry()], ... });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Observer {
  const { tracerProvider, meterProvider, extract = false, inject = false } = options;
  const tracer = (tracerProvider ?? trace).getTracer("infergate");
  // An instrument that was made before the SDK was registered would do nothing for ever.
  const measured = new RequestMetrics(() => meterProvider ?? metrics.getMeterProvider());
  return {
    onStart: ({ health }) => measured.observeTargets(health),
    onRequest(request) {
      if (request.endpoint === undefined) return undefined;
      const span = new RequestSpan(tracer, request, { extract, inject });
      const isMeasured = measured.begins(request.endpoint);
      if (!span.isRecording) return isMeasured ? { onCompleted: (event) => measured.ended(event) } : undefined;
      if (isMeasured) span.alsoCompleted((event) => measured.ended(event));
      return span;
    },
    onLedgerEvent: ({ type }) => measured.ledgerEvent(type),
    onWarning: ({ code }) => measured.warned(code),
  };
}
