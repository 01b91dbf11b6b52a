import { setImmediate } from "node:timers/promises";
import type { TotalsRequest } from "../../../ledger/usage/usage-request.js";
import type { TotalSums } from "../../../ledger/usage/usage-sums.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";
import { series, seriesDays, seriesQuarters, type TotalRow, TotalRows, TotalsPage, totalSums } from "./totals-table.js";

/** So many sums are read in one step: some milliseconds of work. */
const sumsPerStep = 4_096;
const namesPerStep = 1_024;

/** Days or quarters of an hour of a period; the end is exclusive. */
export interface Units {
  readonly period: number;
  readonly from: number;
  readonly to: number;
}

/** Where a page of quarters ended. */
type QuarterPlace = readonly [quarter: number, series: number];

/** Reads the sums of accounts and keys: days with their names, and quarters of an hour by the numbers of their series. */
export class SeriesSums {
  readonly #connection: SqliteConnection;
  readonly #days: TotalsPage;
  readonly #lastSeries: SqliteStatement;
  readonly #quarters: SqliteStatement;
  readonly #names: SqliteStatement;
  readonly #rows: TotalRows;
  /** By their series, of one period. */
  readonly #read = new Map<number, number[]>();

  constructor(connection: SqliteConnection, request: TotalsRequest) {
    this.#connection = connection;
    this.#days = new TotalsPage(connection, request, {
      names: series.names,
      // First by the series, which both tables have in order.
      from: `
        FROM (
          SELECT s.*, ${totalSums.map((name) => `sum(${name}) AS ${name}`).join(", ")}
          FROM (SELECT * FROM ${series.table} WHERE id > ? AND id <= ?) AS s
          CROSS JOIN ${seriesDays.table} AS u ON u.series = s.id AND u.day >= ? AND u.day < ? GROUP BY s.id
        )`,
    });
    this.#lastSeries = connection.prepare(
      `SELECT max(id) AS last FROM (SELECT id FROM ${series.table} WHERE id > ? ORDER BY id LIMIT ?)`,
    );
    this.#quarters = connection.prepare(`
      SELECT json_group_array(json_array(quarter, series, ${totalSums.join(", ")})) AS page
      FROM (
        SELECT * FROM ${seriesQuarters.table} WHERE (quarter, series) > (?, ?) AND quarter < ?
        ORDER BY quarter, series LIMIT ?
      )`);
    this.#rows = new TotalRows(request, series.names);
    this.#names = connection.prepare(`
      SELECT json_group_array(json_array(id, ${this.#rows.columns.join(", ")})) AS page
      FROM ${series.table} WHERE id IN (SELECT value FROM json_each(?))`);
  }

  /** Adds days to which nothing is added any more. */
  async addDays(sums: TotalSums, units: readonly Units[]): Promise<void> {
    const days = units.reduce((all, { from, to }) => all + Math.max(0, to - from), 0);
    if (days === 0) return;
    const seriesPerStep = Math.ceil(sumsPerStep / days);
    const addAfter = (after: number): number | null => {
      const { last } = this.#lastSeries.get(after, seriesPerStep) as { last: unknown };
      if (last === null) return null;
      for (const { period, from, to } of units) {
        for (const total of this.#days.read(period, after, toNumber(last), from, to)) sums.add(total);
      }
      return toNumber(last);
    };
    for (let after: number | null = 0; after !== null; ) {
      const place: number = after;
      after = await this.#connection.read(() => addAfter(place));
      await setImmediate();
    }
  }

  /** Reads quarters to which nothing is added any more. @param sign - -1: they are taken away. */
  async readQuarters({ from, to }: Pick<Units, "from" | "to">, sign: 1 | -1): Promise<void> {
    if (from >= to) return;
    for (let after: QuarterPlace | undefined = [from, 0]; after !== undefined; ) {
      const place: QuarterPlace = after;
      after = await this.#connection.read(() => this.#readPage([...place, to, sumsPerStep], sign));
      await setImmediate();
    }
  }

  /** Reads a quarter in one step. */
  readQuarter(quarter: number): void {
    this.#readPage([quarter, 0, quarter + 1, Number.MAX_SAFE_INTEGER], 1);
  }

  /** @returns where the next page begins, if there may be one. */
  #readPage(
    range: readonly [...after: QuarterPlace, before: number, limit: number],
    sign: 1 | -1,
  ): QuarterPlace | undefined {
    const { page } = this.#quarters.get(...range) as { page: string };
    const rows: readonly (readonly number[])[] = JSON.parse(page);
    for (const row of rows) this.#addRow(row, sign);
    const last = rows.length === range[3] ? rows.at(-1) : undefined;
    return last && [last[0] as number, last[1] as number];
  }

  #addRow(row: readonly number[], sign: 1 | -1): void {
    const of = row[1] as number;
    let known = this.#read.get(of);
    if (known === undefined) {
      known = new Array<number>(totalSums.length).fill(0);
      this.#read.set(of, known);
    }
    for (let place = 0; place < known.length; place++) {
      known[place] = (known[place] as number) + sign * (row[place + 2] as number);
    }
  }

  /** Adds all quarters that were read, as those of a period. Of an account that was forgotten meanwhile, none is added. */
  async addQuarters(sums: TotalSums, period: number): Promise<void> {
    const read = [...this.#read];
    this.#read.clear();
    for (let begin = 0; begin < read.length; begin += namesPerStep) {
      const some = new Map(read.slice(begin, begin + namesPerStep));
      const { page } = (await this.#connection.read(() => this.#names.get(JSON.stringify([...some.keys()])))) as {
        page: string;
      };
      for (const [id, ...names] of JSON.parse(page) as readonly TotalRow[]) {
        const total = this.#rows.totalOf(period, [...names, ...(some.get(id as number) as number[])]);
        if (total) sums.add(total);
      }
      await setImmediate();
    }
  }
}
