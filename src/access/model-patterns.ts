import { matchesPattern } from "./matches-pattern.js";

/** Exact model ids, and patterns in which `*` matches any run of characters. */
export class ModelPatterns {
  readonly patterns: readonly string[];
  readonly #ids: ReadonlySet<string>;
  readonly #wildcards: readonly string[];
  readonly #hasAll: boolean;

  constructor(patterns: readonly string[]) {
    this.patterns = patterns;
    this.#ids = new Set(patterns);
    this.#wildcards = patterns.filter((pattern) => pattern.includes("*"));
    this.#hasAll = this.#ids.has("*");
  }

  /** Whether at least one of them matches the id. */
  has(id: string): boolean {
    return this.#hasAll || this.#ids.has(id) || this.#wildcards.some((pattern) => matchesPattern(pattern, id));
  }
}
