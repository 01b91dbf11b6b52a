import { toUsageTotal } from "../../ledger/usage/to-usage-total.js";
import type { UsageSum } from "../../ledger/usage/usage-sum.js";
import { dayOf } from "../../ledger/usage/usage-sums.js";
import { dayMs } from "../../ledger/windows.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import type { SqliteStatement, SqliteValue } from "../sqlite-database.js";
import { summedColumns } from "./add-to-usage.js";
import type { UsageUnit } from "./usage-unit.js";

/** What tells the sums of an account apart, in the order of the primary key. */
export function sumColumns({ column }: UsageUnit): string {
  return `${column}, tags, model, key, funding`;
}

const namedColumns = ["day", "model", "key", "funding"];

/** The columns that usage by these names needs. A name that is no column is a tag's. */
export function columnsOf(by: readonly string[]): readonly string[] {
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
export class UsagePage {
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
