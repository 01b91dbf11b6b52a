import { type MeterProvider, metrics, type Tracer, type TracerProvider, trace } from "@opentelemetry/api";
import type { ObservedRequest, Observer } from "../../gateway/observers/observer.js";
import { type ContentOptions, resolveContent } from "./content.js";
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

/** What stands in for a provider until the host registers one. */
interface StandIn {
  getDelegate?: () => TracerProvider;
}

/** The tracer of the provider that is registered now. It costs two look-ups for each request where none is. */
class CurrentTracer {
  readonly #given: TracerProvider | undefined;
  #last: TracerProvider | undefined;
  #tracer: Tracer | undefined;

  /** @param given - `undefined`: the one that the host registers. */
  constructor(given: TracerProvider | undefined) {
    this.#given = given;
  }

  /** @returns `undefined` while no SDK is registered. */
  get(): Tracer | undefined {
    const registered: TracerProvider & StandIn = this.#given ?? trace.getTracerProvider();
    const provider = registered.getDelegate?.() ?? registered;
    if (provider === this.#last) return this.#tracer;
    this.#last = provider;
    this.#tracer = isNone(provider, registered) ? undefined : provider.getTracer("infergate");
    return this.#tracer;
  }
}

/** A stand-in that is new has what stands for no provider. */
function isNone(provider: TracerProvider, registered: TracerProvider & StandIn): boolean {
  if (registered.getDelegate === undefined) return false;
  const fresh: StandIn = new (registered.constructor as new () => StandIn)();
  return fresh.getDelegate?.().constructor === provider.constructor;
}
