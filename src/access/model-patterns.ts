import { matchesParts, type PatternParts, patternParts } from "./matches-pattern.js";

/** Exact model ids, and patterns in which `*` matches any run of characters. */
export class ModelPatterns {
  readonly patterns: readonly string[];
  readonly #ids: ReadonlySet<string>;
  readonly #wildcards: readonly PatternParts[];

  constructor(patterns: readonly string[]) {
    this.patterns = patterns;
    this.#ids = new Set(patterns);
    this.#wildcards = patterns.filter((pattern) => pattern.includes("*")).map(patternParts);
  }

  /** Whether at least one of them matches the id. */
  has(id: string): boolean {
    if (this.#ids.has(id)) return true;
    for (const parts of this.#wildcards) if (matchesParts(parts, id)) return true;
    return false;
  }
}
