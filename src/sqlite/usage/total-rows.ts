import { toUsageTotal } from "../../ledger/usage/to-usage-total.js";
import type { PeriodTotal, TotalsRequest } from "../../ledger/usage/usage-totals.js";
import { journalTagPrefix } from "../../metering/tags.js";

/** What names a sum and then what it adds up to. */
export type TotalRow = readonly (string | number)[];

/** All that a request names. */
export function requestedNames({ by, where }: TotalsRequest): readonly string[] {
  return [...new Set([...by, ...Object.keys(where)])];
}

export function isTag(name: string): boolean {
  return name.startsWith(journalTagPrefix);
}

/** What rows of sums are to a request. */
export class TotalRows {
  /** What rows begin with. */
  readonly columns: readonly string[];
  readonly #request: TotalsRequest;
  readonly #texts = new Map<string, unknown>();

  /** @param names - the columns that there are. */
  constructor(request: TotalsRequest, names: readonly string[]) {
    this.#request = request;
    const requested = requestedNames(request);
    const columns = names.filter((name) => (name === "tags" ? requested.some(isTag) : requested.includes(name)));
    // SQLite answers nothing where nothing is, unless it groups by nothing.
    this.columns = columns.length === 0 ? ["funding"] : columns;
  }

  /** @returns undefined where the request does not ask for it. */
  totalOf(period: number, row: TotalRow): PeriodTotal | undefined {
    const { by, where } = this.#request;
    for (const name of Object.keys(where)) if (!where[name]?.includes(this.#dimensionOf(row, name))) return undefined;
    const counts = row.slice(this.columns.length).map(Number);
    return { period, by: by.map((name) => this.#dimensionOf(row, name)), ...toUsageTotal(counts) };
  }

  #dimensionOf(row: TotalRow, name: string): string | null {
    const text = String(row[this.columns.indexOf(isTag(name) ? "tags" : name)]);
    if (name === "account" || name === "funding") return text;
    const value = this.#parse(text);
    const tag = isTag(name) ? (value as Record<string, unknown> | null)?.[name.slice(journalTagPrefix.length)] : value;
    return typeof tag === "string" ? tag : null;
  }

  /** A text that is missing is no JSON. */
  #parse(json: string): unknown {
    let parsed = this.#texts.get(json);
    if (parsed === undefined) {
      parsed = json === "" ? null : JSON.parse(json);
      this.#texts.set(json, parsed);
    }
    return parsed;
  }
}
