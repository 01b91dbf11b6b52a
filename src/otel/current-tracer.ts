import { type Tracer, type TracerProvider, trace } from "@opentelemetry/api";

/** What stands in for a provider until the host registers one. */
interface StandIn {
  getDelegate?: () => TracerProvider;
}

/** The tracer of the provider that is registered now. It costs two look-ups for each request where none is. */
export class CurrentTracer {
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
