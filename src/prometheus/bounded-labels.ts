import type { RequestCompleted } from "../events/request-completed.js";

/** The labels of one metric, by their names. */
export type Labels = Readonly<Record<string, string>>;

/** Gives the value of a label of its own for a request: one of few, such as the class of a customer, and no id. */
export type LabelOf = (event: RequestCompleted) => string | undefined;

/** The labels of the series of one metric, made once each. */
export class BoundedLabels {
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
