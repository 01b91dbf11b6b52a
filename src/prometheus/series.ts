import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { BoundedLabels, type Labels } from "./bounded-labels.js";

/** What metrics are made with. */
export interface SeriesSettings {
  readonly registry: Registry;
  readonly prefix: string;
  /** What all series have. */
  readonly fixed: Labels;
  readonly maxSeries: number;
}

type Made = Counter | Gauge | Histogram;

/** A metric, and the labels of its series. */
export interface Series<Metric extends Made> {
  readonly metric: Metric;
  readonly labels: BoundedLabels;
}

interface Description {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** Makes the metrics of a registry. Another gateway, or the same code loaded anew, goes on with those that are there. */
export class SeriesFactory {
  readonly #settings: SeriesSettings;

  constructor(settings: SeriesSettings) {
    this.#settings = settings;
  }

  counter(description: Description): Series<Counter> {
    return this.#series(description, (config) => new Counter(config));
  }

  /** @param aggregator - what a cluster makes of the values of its workers. */
  gauge(description: Description, aggregator: "sum" | "max" | "min" = "sum"): Series<Gauge> {
    return this.#series(description, (config) => new Gauge({ ...config, aggregator }));
  }

  histogram(description: Description, buckets: number[]): Series<Histogram> {
    return this.#series(description, (config) => new Histogram({ ...config, buckets }));
  }

  #series<Metric extends Made>(
    { name, help, labels = [] }: Description,
    make: (config: { name: string; help: string; labelNames: string[]; registers: Registry[] }) => Metric,
  ): Series<Metric> {
    const { registry, prefix, fixed, maxSeries } = this.#settings;
    const full = prefix + name;
    const labelNames = [...labels, ...Object.keys(fixed)];
    const found = registry.getSingleMetric(full) as (Metric & { readonly labelNames?: readonly string[] }) | undefined;
    if (found?.labelNames !== undefined && !hasSame(found.labelNames, labelNames)) {
      throw new TypeError(
        `prometheus: the registry has ${full} with the labels ${found.labelNames.join(", ")}, and not ${labelNames.join(", ")}. Give all gateways of a registry the same labels, or set prefix.`,
      );
    }
    return {
      metric: found ?? make({ name: full, help, labelNames, registers: [registry] }),
      labels: new BoundedLabels(labels, fixed, maxSeries),
    };
  }
}

function hasSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && other.every((name) => one.includes(name));
}
