import type { Attributes, Meter, MetricOptions } from "@opentelemetry/api";

/** A sum that one set of attributes has. */
interface Part {
  readonly attributes: Attributes;
  value: number;
}

const mostParts = 2_000;

/**
 * A sum that is read when metrics are exported. To add to it costs a look-up; to add to an instrument, its attributes are
 * sorted and written as JSON each time.
 */
export class ObservedSum {
  readonly #names: readonly string[];
  readonly #parts = new Map<string, Part>();

  /** @param names - of the attributes. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** @param values - of the attributes, in their order. Those beyond 2,000 sets count under `other`. */
  add(by: number, values: readonly string[]): void {
    let key = "";
    for (const value of values) key += `${value}\u0000`;
    const part = this.#parts.get(key) ?? this.#made(key, values);
    part.value += by;
  }

  /** @param kind - `upDownCounter` where it may fall. */
  observedBy(meter: Meter, kind: "counter" | "upDownCounter", name: string, options: MetricOptions): void {
    const instrument =
      kind === "counter"
        ? meter.createObservableCounter(name, options)
        : meter.createObservableUpDownCounter(name, options);
    instrument.addCallback((result) => {
      for (const { value, attributes } of this.#parts.values()) result.observe(value, attributes);
    });
  }

  #made(key: string, values: readonly string[]): Part {
    if (this.#parts.size >= mostParts) {
      const others = this.#names.map(() => "other");
      const otherKey = others.join("\u0000");
      return this.#parts.get(otherKey) ?? this.#add(otherKey, others);
    }
    return this.#add(key, values);
  }

  #add(key: string, values: readonly string[]): Part {
    const attributes = Object.fromEntries(this.#names.map((name, place) => [name, values[place]]));
    const part = { attributes, value: 0 };
    this.#parts.set(key, part);
    return part;
  }
}
