import type { PeriodTotal, TotalsRequest } from "../../ledger/usage/usage-totals.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement, SqliteValue } from "../sqlite-database.js";
import { type TotalRow, TotalRows } from "./total-rows.js";
import { totalSums } from "./totals-table.js";

/** Which sums a page has. */
export interface PageSource {
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
