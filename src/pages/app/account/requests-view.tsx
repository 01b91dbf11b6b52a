import { useState } from "preact/hooks";
import type { AccountKey, AccountRequest } from "../../account/account-page-api.js";
import { Choice } from "../parts/field.js";
import { columnOf, instant, number } from "../parts/format.js";
import { Badge, Empty, Ready } from "../parts/notice.js";
import { type Column, DownloadButton, figures, MoreButton, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { Time } from "../parts/time.js";
import { usePages } from "../parts/use-api.js";
import { keyName, useKeys } from "./reader.js";
import { textOf, texts } from "./settings.js";

const everyMs = 15_000;
const shortTime = { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" } as const;
const filters = [
  ["all", texts.all],
  ["refused", texts.onlyRefused],
] as const;

/** The last requests, whatever became of them. */
export function RequestsView() {
  const [only, setOnly] = useState<"all" | "refused">("all");
  return (
    <>
      <div class="tools">
        <Choice label={texts.show} options={filters} value={only} onChange={setOnly} />
      </div>
      <Requests key={only} only={only} />
    </>
  );
}

function Requests({ only }: { readonly only: "all" | "refused" }) {
  const requests = usePages<AccountRequest>(`requests?limit=50${only === "refused" ? "&only=refused" : ""}`, {
    keyOf: ({ id }) => id,
    every: everyMs,
  });
  const keys = useKeys();
  return (
    <Ready of={requests} height={420}>
      {(rows) => {
        const columns = columnsOf(rows, keys);
        return (
          <section class="card" aria-label={texts.requests}>
            {rows.length === 0 ? (
              <Empty
                title={only === "all" ? texts.requestsEmpty : texts.refusedEmpty}
                text={only === "all" ? texts.requestsEmptyMore : undefined}
              />
            ) : (
              <Table caption={texts.requests} columns={columns} rows={rows} keyOf={({ id }) => id} />
            )}
            <div class="row">
              <MoreButton more={requests.more} />
              <DownloadButton name="requests.csv" columns={columns} rows={rows} />
            </div>
          </section>
        );
      }}
    </Ready>
  );
}

function columnsOf(
  rows: readonly AccountRequest[],
  keys: readonly AccountKey[] | undefined,
): readonly Column<AccountRequest>[] {
  return [
    {
      head: texts.time,
      cell: ({ at }) => <Time at={at} text={instant(at, shortTime)} />,
      csv: ({ at }) => new Date(at * 1000).toISOString(),
    },
    {
      head: texts.model,
      cell: ({ model, key }) => (
        <>
          {model ?? "–"}
          <div class="muted">{keyName(keys, key)}</div>
        </>
      ),
      csv: ({ model }) => model ?? "",
    },
    { head: texts.key, csv: ({ key }) => keyName(keys, key) },
    { head: texts.result, cell: (row) => <Result request={row} />, csv: ({ code, status }) => code ?? status },
    figures(texts.input, (row) => row.input_tokens),
    figures(texts.output, (row) => row.output_tokens),
    figures(texts.credits, ({ credits }) => credits, columnOf(rows.map(({ credits }) => credits))),
    figures(
      texts.took,
      (row) => row.duration_ms / 1000,
      (seconds) => number(seconds, 2),
    ),
  ];
}

/** Served, or why not. */
function Result({ request: { status, code, cached, count } }: { readonly request: AccountRequest }) {
  const isServed = status < 400 && code === null;
  return (
    <span class="result">
      <Badge tone={isServed ? "good" : status >= 500 ? "danger" : "warning"}>
        {isServed ? texts.served : String(status)}
      </Badge>
      {!isServed && <span>{textOf("reason", code ?? "")}</span>}
      {cached && <span class="muted">{texts.keptResponse}</span>}
      {count > 1 && <span class="muted">{fill(texts.times2, { count })}</span>}
    </span>
  );
}
