import type { ComponentChildren } from "preact";
import { download, toCsv } from "./csv.js";
import { number } from "./format.js";
import { Alert } from "./notice.js";
import { texts } from "./texts.js";
import type { Action } from "./use-action.js";

/** A column of a table. */
export interface Column<Row> {
  readonly head: string;
  /** Absent: it is in files alone. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** Its figures stand below each other. */
  readonly isNumeric?: boolean;
  /** What a file has of it. Default: nothing. */
  readonly csv?: (row: Row) => string | number;
}

/** A column of words. */
export function words<Row>(head: string, value: (row: Row) => string): Column<Row> {
  return { head, cell: value, csv: value };
}

/** A column of figures. What a file has of them is not rounded. */
export function figures<Row>(
  head: string,
  value: (row: Row) => number | null,
  format: (value: number) => string = number,
): Column<Row> {
  return {
    head,
    isNumeric: true,
    cell: (row) => {
      const figure = value(row);
      return figure === null ? "–" : format(figure);
    },
    csv: (row) => value(row) ?? "",
  };
}

interface TableProps<Row> {
  /** What the table is about, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/** The first column names the row. A table that is wider than its place scrolls within it. */
export function Table<Row>({ caption, columns: all, rows, keyOf }: TableProps<Row>) {
  const columns = all.filter(({ cell }) => cell !== undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it by keys
    <div class="scroll" role="group" tabIndex={0} aria-label={caption}>
      <table>
        <thead>
          <tr>
            {columns.map(({ head, isNumeric }) => (
              <th key={head} scope="col" class={isNumeric ? "number" : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, cell, isNumeric }, index) => {
                const kind = isNumeric ? "number" : undefined;
                return index === 0 ? (
                  <th key={head} scope="row" class={kind}>
                    {cell?.(row)}
                  </th>
                ) : (
                  <td key={head} class={kind}>
                    {cell?.(row)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Gives the rows as a file, with the columns that have something for it. */
export function DownloadButton<Row>({
  name,
  columns,
  rows,
}: Pick<TableProps<Row>, "columns" | "rows"> & { readonly name: string }) {
  const save = () => {
    const written = columns.flatMap(({ head, csv }) => (csv === undefined ? [] : [{ head, csv }]));
    download(name, toCsv([written.map(({ head }) => head), ...rows.map((row) => written.map(({ csv }) => csv(row)))]));
  };
  return (
    <button type="button" onClick={save} disabled={rows.length === 0}>
      {texts.download}
    </button>
  );
}

/** Loads the next page of a list, where there is one. */
export function MoreButton({ more }: { readonly more: Action | undefined }) {
  return more === undefined ? null : (
    <>
      <Alert error={more.error} />
      <button type="button" disabled={more.isBusy} onClick={more.run}>
        {texts.more}
      </button>
    </>
  );
}
