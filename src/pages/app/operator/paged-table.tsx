import { Empty } from "../parts/notice.js";
import { type Column, DownloadButton, MoreButton, Table } from "../parts/table.js";
import { usePages } from "../parts/use-api.js";
import { Shown } from "./pieces.js";
import { texts } from "./settings.js";

interface PagedTableProps<Row> {
  readonly path: string;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** What stands where there are none, and where the gateway keeps none. */
  readonly empty: string;
  readonly missing: string;
  /** Of the file with the rows. */
  readonly file: string;
  /** Milliseconds. */
  readonly every?: number;
}

/** A list of the API: its first page as it is now, and further ones when asked for. Another path is another list: give it a key. */
export function PagedTable<Row>({ path, caption, columns, keyOf, empty, missing, file, every }: PagedTableProps<Row>) {
  const pages = usePages<Row>(path, { keyOf, ...(every !== undefined && { every }) });
  return (
    <Shown of={pages} missing={missing}>
      {(rows) => (
        <section class="card" aria-label={caption}>
          {rows.length === 0 ? (
            <Empty title={pages.more === undefined ? empty : texts.lookFurther} />
          ) : (
            <Table caption={caption} columns={columns} rows={rows} keyOf={keyOf} />
          )}
          <div class={pages.more === undefined ? "actions" : "row"}>
            <MoreButton more={pages.more} />
            {rows.length > 0 && <DownloadButton name={file} columns={columns} rows={rows} />}
          </div>
        </section>
      )}
    </Shown>
  );
}
