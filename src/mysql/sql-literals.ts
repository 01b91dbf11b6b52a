import { Buffer } from "node:buffer";

/** A value of a row that is written: a text, or a safe integer. */
export type SqlValue = string | number | null | undefined;

/** So many characters of rows are one statement: far below the least `max_allowed_packet` of any server. */
const mostCharacters = 500_000;

/** The database's clock, in epoch milliseconds: of no time zone, and of the statement's beginning. */
export const clockSql = "(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)";

/**
 * A value in SQL. Texts are bytes in hexadecimal digits: whatever a connection's character set, collation and `sql_mode` are,
 * they mean the same.
 */
export function literal(value: SqlValue): string {
  if (value === undefined || value === null) return "null";
  return typeof value === "number" ? String(value) : `x'${Buffer.from(value).toString("hex")}'`;
}

/** Rows as a list of `values`, in pieces that a statement can take. */
export function valueLists(rows: readonly (readonly SqlValue[])[]): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const row of rows) {
    const values = `(${row.map(literal).join(",")})`;
    if (piece !== "" && piece.length + values.length > mostCharacters) {
      pieces.push(piece);
      piece = "";
    }
    piece += piece === "" ? values : `,${values}`;
  }
  if (piece !== "") pieces.push(piece);
  return pieces;
}

/**
 * Rows as a table to join with. From one a plan goes by whole keys and in the order of the rows, however many others there are;
 * from an `in (…)` it may go through all of a table, and wait for what others have locked.
 *
 * @param columns - the names of texts.
 */
export function rowsTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const types = columns.map((name, index) => `${name} varchar(512) character set utf8mb4 path '$[${index}]'`);
  return `json_table(convert(${literal(JSON.stringify(rows))} using utf8mb4), '$[*]' columns (${types.join(", ")}))`;
}
