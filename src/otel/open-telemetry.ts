import { type MeterProvider, metrics, type TracerProvider, trace } from "@opentelemetry/api";
import type { ObservedRequest, Observer } from "../gateway/observers/observer.js";
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
  // Tracers and instruments that were taken before the SDK was registered may do nothing for ever.
  const measured = new RequestMetrics(() => meterProvider ?? metrics.getMeterProvider());
  const ended: ObservedRequest = { onCompleted: (event) => measured.ended(event) };
  return {
    onStart: ({ health }) => measured.observeTargets(health),
    onRequest(request) {
      if (request.endpoint === undefined) return undefined;
      const tracer = (tracerProvider ?? trace).getTracer("infergate");
      const followed = measured.begins(request.endpoint) ? ended : undefined;
      const span = new RequestSpan(tracer, request, { extract, inject, also: followed?.onCompleted });
      return span.isRecording ? span : followed;
    },
    onLedgerEvent: ({ type }) => measured.ledgerEvent(type),
    onWarning: ({ code }) => measured.warned(code),
  };
}
