import { dayMs } from "../../../ledger/calendar.js";
import type { UsageSum } from "../../../ledger/usage/usage-request.js";
import { dayOf } from "../../../ledger/usage/usage-sums.js";
import { toUsageTotal } from "../../../ledger/usage/usage-total.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, type SqliteValue, toNumber } from "../sqlite-database.js";
import { summedColumns, type UsageUnit } from "./add-to-usage.js";

const rowsPerPage = 500;
const rowsPerPurge = 128;

/** Days or hours, counted from 1970 on; the end is exclusive. */
export interface UnitRange {
  readonly from: number;
  readonly to: number;
}

/** What identifies a sum of an account. */
export type SumPlace = readonly [unit: number, tags: string, model: string, key: string, funding: string];

/** No sum has a funding without a name. */
export function beforeUnit(unit: number): SumPlace {
  return [unit, "", "", "", ""];
}

/** The sums of each account, day or hour, model, key, funding and set of tags. */
export class SumTable {
  readonly #connection: SqliteConnection;
  readonly #unit: UsageUnit;
  readonly #unknown: SqliteStatement;
  readonly #sumAfter: SqliteStatement;
  readonly #hasBefore: SqliteStatement;
  readonly #deleteBefore: SqliteStatement;
  readonly #deleteFrom: SqliteStatement;
  readonly #pages = new Map<string, UsagePage>();

  constructor(connection: SqliteConnection, unit: UsageUnit) {
    this.#connection = connection;
    this.#unit = unit;
    const { table, column } = unit;
    const place = sumColumns(unit);
    const prepare = (sql: string) => connection.prepare(sql);
    const ofAccount = `FROM ${table} WHERE account = ? AND`;
    this.#unknown = prepare(
      `SELECT DISTINCT ${column} ${ofAccount} tags = '?' AND ${column} >= ? AND ${column} < ? ORDER BY ${column}`,
    );
    this.#sumAfter = prepare(`
      SELECT ${place} ${ofAccount} (${place}) > (?, ?, ?, ?, ?) AND ${column} < ?
      ORDER BY ${place} LIMIT 1 OFFSET ${rowsPerPage - 1}`);
    this.#hasBefore = prepare(`SELECT 1 ${ofAccount} ${column} < ? LIMIT 1`);
    this.#deleteBefore = prepare(`
      DELETE FROM ${table} WHERE (account, ${place}) IN (
        SELECT account, ${place} ${ofAccount} ${column} < ? LIMIT ${rowsPerPurge}
      )`);
    this.#deleteFrom = prepare(`DELETE ${ofAccount} ${column} >= ?`);
  }

  /** The days or hours in which some tags are not known. */
  unknown(account: string, { from, to }: UnitRange): number[] {
    const rows = this.#unknown.all(account, from, to) as Readonly<Record<string, unknown>>[];
    return rows.map((row) => toNumber(row[this.#unit.column]));
  }

  /**
   * Sums before a day or hour, by what is named: those of a page, which is some milliseconds of work.
   *
   * @returns with `next` where more may follow.
   */
  read(
    account: string,
    { after, before }: { after: SumPlace; before: number },
    by: readonly string[],
  ): { sums: readonly UsageSum[]; next: SumPlace | undefined } {
    const next = this.#toPlace(this.#sumAfter.get(account, ...after, before));
    const range: readonly SqliteValue[] = [account, ...after, ...(next ?? beforeUnit(before))];
    return { sums: this.#pageBy(by).read(range, by), next };
  }

  /** Deletes some of the sums before a moment. */
  deleteBefore(account: string, at: number): void {
    this.#deleteBefore.run(account, this.#unitOf(at));
  }

  hasBefore(account: string, at: number): boolean {
    return this.#hasBefore.all(account, this.#unitOf(at)).length > 0;
  }

  /** Deletes the sums of the day or hour of a moment, and those after it. */
  deleteFrom(account: string, at: number): void {
    this.#deleteFrom.run(account, this.#unitOf(at));
  }

  #unitOf(at: number): number {
    return Math.floor(at / this.#unit.ms);
  }

  #pageBy(by: readonly string[]): UsagePage {
    const columns = columnsOf(by);
    const name = columns.join();
    let page = this.#pages.get(name);
    if (page === undefined) {
      page = new UsagePage(this.#connection, this.#unit, columns);
      this.#pages.set(name, page);
    }
    return page;
  }

  #toPlace(found: unknown): SumPlace | undefined {
    if (!found) return undefined;
    const row = found as { day?: unknown; hour?: unknown; tags: string; model: string; key: string; funding: string };
    return [toNumber(row[this.#unit.column]), row.tags, row.model, row.key, row.funding];
  }
}

/** What tells the sums of an account apart, in the order of the primary key. */
function sumColumns({ column }: UsageUnit): string {
  return `${column}, tags, model, key, funding`;
}

const namedColumns = ["day", "model", "key", "funding"];

/** The columns that usage by these names needs. A name that is no column is a tag's. */
function columnsOf(by: readonly string[]): readonly string[] {
  const columns = namedColumns.filter((name) => by.includes(name));
  return hasTags(by) ? [...columns, "tags"] : columns;
}

export function hasTags(by: readonly string[]): boolean {
  return by.some((name) => !namedColumns.includes(name));
}

/** A row as SQLite writes it. */
interface Row extends Readonly<Record<(typeof summedColumns)[number], number>> {
  readonly day?: number;
  readonly model?: string;
  readonly key?: string;
  readonly funding?: string;
  readonly tags?: string;
}

/** Reads a part of an account's sums, added up by some of its columns. */
class UsagePage {
  readonly #read: SqliteStatement;

  /** @param columns - as {@link columnsOf}. */
  constructor(connection: SqliteConnection, unit: UsageUnit, columns: readonly string[]) {
    const by = columns.join(", ");
    const read = columns.map((name) => (name === "day" ? `${unit.day} AS day` : name)).join(", ");
    const place = sumColumns(unit);
    const members = [...summedColumns, ...columns].map((name) => `'${name}', ${name}`).join(", ");
    // One text: drivers take longer to make a row's object than SQLite takes to read the row.
    this.#read = connection.prepare(`
      SELECT json_group_array(json_object(${members})) AS page
      FROM (
        SELECT ${read}, ${summedColumns.map((name) => `sum(${name}) AS ${name}`).join(", ")} FROM ${unit.table}
        WHERE account = ? AND (${place}) > (?, ?, ?, ?, ?) AND (${place}) <= (?, ?, ?, ?, ?)
        GROUP BY ${by}
      )`);
  }

  read(range: readonly SqliteValue[], by: readonly string[]): UsageSum[] {
    const { page } = this.#read.get(...range) as { page: string };
    const texts = new Map<string, unknown>();
    const parse = (json: string): unknown => {
      let parsed = texts.get(json);
      if (parsed === undefined) {
        // Neither a text that is missing nor unknown tags are JSON.
        parsed = json === "" || json === "?" ? null : JSON.parse(json);
        texts.set(json, parsed);
      }
      return parsed;
    };
    return (JSON.parse(page) as Row[]).map((row) => toSum(row, by, parse));
  }
}

function toSum(row: Row, by: readonly string[], parse: (json: string) => unknown): UsageSum {
  const tags = parse(row.tags ?? "") as Readonly<Record<string, unknown>> | null;
  const memberOf = (name: string): unknown => {
    if (name === "day") return dayOf((row.day ?? 0) * dayMs);
    if (name === "funding") return row.funding;
    if (name === "model" || name === "key") return parse(row[name] ?? "");
    return tags?.[name];
  };
  const values = by.map((name): [string, string | null] => {
    const value = memberOf(name);
    return [name, typeof value === "string" ? value : null];
  });
  return { by: Object.fromEntries(values), ...toUsageTotal(summedColumns.map((name) => row[name])) };
}
