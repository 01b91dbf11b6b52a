import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RequestCompleted } from "../../events/request-completed.js";

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

/** The labels of one metric, by their names. */
export type Labels = Readonly<Record<string, string>>;

/** Gives the value of a label of its own for a request: one of few, such as the class of a customer, and no id. */
export type LabelOf = (event: RequestCompleted) => string | undefined;

/** The labels of the series of one metric, made once each. */
class BoundedLabels {
  readonly #names: readonly string[];
  readonly #fixed: Labels;
  readonly #most: number;
  readonly #known = new Map<string, Labels>();
  readonly #other: Labels;

  /** @param fixed - what all series have. */
  constructor(names: readonly string[], fixed: Labels, most: number) {
    this.#names = names;
    this.#most = most;
    this.#fixed = fixed;
    this.#other = { ...Object.fromEntries(names.map((name) => [name, "other"])), ...fixed };
  }

  /**
   * @param values - in the order of the names.
   * @returns the labels, or labels that are all `other` where they would make one series too many: each series is memory, and
   * time at each scrape.
   */
  of(values: readonly string[]): Labels {
    let key = "";
    for (const value of values) key += `${value}\u0000`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#most) return this.#other;
    const labels = {
      ...Object.fromEntries(this.#names.map((name, place) => [name, values[place] ?? ""])),
      ...this.#fixed,
    };
    this.#known.set(key, labels);
    return labels;
  }
}
