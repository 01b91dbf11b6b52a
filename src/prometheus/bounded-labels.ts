import type { RequestCompleted } from "../events/request-completed.js";

/** The labels of one metric, by their names. */
export type Labels = Readonly<Record<string, string>>;

/** Gives the value of a label of its own for a request: one of few, such as the class of a customer, and no id. */
export type LabelOf = (event: RequestCompleted) => string | undefined;

/** Keeps the series of a metric from growing without a bound: each of them is memory, and time at each scrape. */
export class BoundedLabels {
  readonly #most: number;
  readonly #known = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @returns the labels, or labels that are all `other` where they would make one series too many. */
  of(labels: Labels): Labels {
    const key = JSON.stringify(Object.values(labels));
    if (this.#known.has(key)) return labels;
    if (this.#known.size < this.#most) {
      this.#known.add(key);
      return labels;
    }
    return Object.fromEntries(Object.keys(labels).map((name) => [name, "other"]));
  }
}
