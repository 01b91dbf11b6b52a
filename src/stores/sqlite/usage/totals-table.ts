import { dayMs } from "../../../ledger/calendar.js";
import type { PeriodTotal, TotalsRequest } from "../../../ledger/usage/usage-request.js";
import { toUsageTotal } from "../../../ledger/usage/usage-total.js";
import { journalTagPrefix } from "../../../prices/tags.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement, SqliteValue } from "../sqlite-database.js";
import { counted } from "./add-to-usage.js";

/** A table of sums over all accounts. */
export interface TotalsTable {
  readonly table: string;
  /** The column of that table that has the number of the day or quarter of an hour. */
  readonly unit: "day" | "quarter";
  readonly ms: number;
  /** What tells sums apart beside the time. */
  readonly names: readonly string[];
}

export const quartersPerDay = 96;

export const quarters: TotalsTable = {
  table: "infergate_usage_quarter",
  unit: "quarter",
  ms: dayMs / quartersPerDay,
  names: ["tags", "plan", "model", "target", "funding"],
};

/** What calls of one account may have alike. Their sums have its number in the place of all its names. */
export const series = {
  table: "infergate_usage_series",
  names: ["account", "plan", "model", "target", "key", "funding"],
} as const;

export const seriesDays: TotalsTable = {
  table: "infergate_usage_series_day",
  unit: "day",
  ms: dayMs,
  names: ["series"],
};

export const seriesQuarters: TotalsTable = {
  table: "infergate_usage_series_quarter",
  unit: "quarter",
  ms: quarters.ms,
  names: ["series"],
};

/** The columns that are added up. */
export const totalSums = ["requests", "charged", ...counted.map(([column]) => column), "cost", "costed"];

/** Which sums a page has. */
interface PageSource {
  /** The columns that tell them apart. */
  readonly names: readonly string[];
  /** A FROM clause, with parameters. */
  readonly from: string;
}

/** Reads sums over all accounts, added up by what a request names. */
export class TotalsPage {
  readonly #rows: TotalRows;
  readonly #read: SqliteStatement;

  constructor(connection: SqliteConnection, request: TotalsRequest, { names, from }: PageSource) {
    this.#rows = new TotalRows(request, names);
    const by = this.#rows.columns.join(", ");
    // One text: drivers take longer to make a row's object than SQLite takes to read the row.
    this.#read = connection.prepare(`
      SELECT json_group_array(json_array(${by}, ${totalSums.join(", ")})) AS page
      FROM (SELECT ${by}, ${totalSums.map((name) => `sum(${name}) AS ${name}`).join(", ")} ${from} GROUP BY ${by})`);
  }

  read(period: number, ...values: readonly SqliteValue[]): readonly PeriodTotal[] {
    const { page } = this.#read.get(...values) as { page: string };
    const rows: readonly TotalRow[] = JSON.parse(page);
    return rows.flatMap((row) => this.#rows.totalOf(period, row) ?? []);
  }
}

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
