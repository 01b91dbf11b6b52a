import { toUsageTotal } from "../../ledger/usage/to-usage-total.js";
import type { PeriodTotal, TotalsRequest } from "../../ledger/usage/usage-totals.js";
import { journalTagPrefix } from "../../metering/tags.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement, SqliteValue } from "../sqlite-database.js";
import { type TotalsTable, totalSums } from "./totals-table.js";

/** All that a request names. */
export function requestedNames({ by, where }: TotalsRequest): readonly string[] {
  return [...new Set([...by, ...Object.keys(where)])];
}

export function isTag(name: string): boolean {
  return name.startsWith(journalTagPrefix);
}

/** Reads sums over all accounts, added up by what a request names. */
export class TotalsPage {
  readonly #request: TotalsRequest;
  readonly #columns: readonly string[];
  readonly #read: SqliteStatement;
  readonly #texts = new Map<string, unknown>();

  /** @param condition - which sums, with parameters. */
  constructor(connection: SqliteConnection, request: TotalsRequest, table: TotalsTable, condition: string) {
    this.#request = request;
    const names = requestedNames(request);
    const columns = table.names.filter((name) => (name === "tags" ? names.some(isTag) : names.includes(name)));
    // SQLite answers nothing where nothing is, unless it groups by nothing.
    this.#columns = columns.length === 0 ? ["funding"] : columns;
    const by = this.#columns.join(", ");
    // One text: drivers take longer to make a row's object than SQLite takes to read the row.
    this.#read = connection.prepare(`
      SELECT json_group_array(json_array(${by}, ${totalSums.join(", ")})) AS page
      FROM (SELECT ${by}, ${totalSums.map((name) => `sum(${name}) AS ${name}`).join(", ")} ${condition} GROUP BY ${by})`);
  }

  read(period: number, ...values: readonly SqliteValue[]): readonly PeriodTotal[] {
    const { page } = this.#read.get(...values) as { page: string };
    const { by, where } = this.#request;
    const filters = Object.entries(where);
    const totals: PeriodTotal[] = [];
    for (const row of JSON.parse(page) as readonly (readonly (string | number)[])[]) {
      const dimensionOf = (name: string) => this.#dimensionOf(row, name);
      if (!filters.every(([name, listed]) => listed.includes(dimensionOf(name)))) continue;
      totals.push({ period, by: by.map(dimensionOf), ...toUsageTotal(row.slice(this.#columns.length).map(Number)) });
    }
    return totals;
  }

  #dimensionOf(row: readonly (string | number)[], name: string): string | null {
    const text = String(row[this.#columns.indexOf(isTag(name) ? "tags" : name)]);
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
