import { useState } from "preact/hooks";
import type { OperatorRequest } from "../../operator/operator-page-api.js";
import { Dialog } from "../parts/dialog.js";
import { columnOf, credits, number } from "../parts/format.js";
import { Badge } from "../parts/notice.js";
import { type Column, figures, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { Time } from "../parts/time.js";
import { type Filter, Filters } from "./filters.js";
import { PagedTable } from "./paged-table.js";
import { Cut, cut, Facts, milliseconds, Two, times, wordOf } from "./pieces.js";
import { accountLink, filtersOf, withQuery } from "./query.js";
import { type OperatorViewProps, texts } from "./settings.js";

const everyMs = 15_000;
const statuses = ["2xx", "4xx", "429", "5xx"].map((status) => [status, status] as const);
const filters: readonly Filter[] = [
  { name: "status", label: texts.result, options: [["", texts.all], ["4xx,5xx", texts.notServed], ...statuses] },
  { name: "account", label: texts.account },
  { name: "key", label: texts.keyId },
  { name: "model", label: texts.model },
  { name: "target", label: texts.target },
  { name: "code", label: texts.code },
  { name: "tag", label: texts.tag, hint: "member=42" },
];

/** A request of the log, or one that has failed in this process. */
export type AnyRequest = Omit<OperatorRequest, "count"> & { readonly count?: number };

/** The log of all requests. */
export function RequestsView({ rest }: OperatorViewProps) {
  const [shown, show] = useState<AnyRequest>();
  const values = filtersOf(rest);
  return (
    <>
      <Filters view="requests" filters={filters} values={values} />
      <PagedTable<OperatorRequest>
        path={withQuery("requests", values)}
        caption={texts.requests}
        columns={requestColumns(show)}
        keyOf={keyOfRequest}
        empty={texts.noRequests}
        missing={texts.noLog}
        file="requests.csv"
        every={everyMs}
      />
      {shown && <RequestDialog request={shown} onClose={() => show(undefined)} />}
    </>
  );
}

/** A request's id may be the client's own, and come twice. */
export function keyOfRequest({ id, at, duration_ms }: AnyRequest): string {
  return `${id} ${at} ${duration_ms}`;
}

export function requestColumns(onOpen: (request: AnyRequest) => void): readonly Column<AnyRequest>[] {
  return [
    times(onOpen),
    {
      head: texts.model,
      cell: ({ model, requested_model, target }) => (
        <Two more={target && <Cut>{target}</Cut>}>
          <Cut>{model ?? requested_model}</Cut>
        </Two>
      ),
      csv: ({ model, requested_model }) => model ?? requested_model ?? "",
    },
    { head: texts.target, csv: ({ target }) => target ?? "" },
    cut(texts.account, ({ account }) => account),
    { head: texts.result, cell: (row) => <Result of={row} />, csv: ({ status, code }) => code ?? status },
    {
      ...{ head: texts.tokens, isNumeric: true },
      cell: (row) => `${number(row.input_tokens)} → ${number(row.output_tokens)}`,
    },
    { head: texts.input, csv: (row) => row.input_tokens },
    { head: texts.output, csv: (row) => row.output_tokens },
    figures(texts.credits, (row) => row.credits, columnOf([0.0001])),
    figures(texts.took, (row) => row.duration_ms, milliseconds),
  ];
}

function Result({ of: { status, code, cached, count = 1 } }: { readonly of: AnyRequest }) {
  const isServed = status < 400 && code === null;
  return (
    <span class="result">
      <Badge tone={isServed ? "good" : status < 400 || status >= 500 ? "danger" : "warning"}>{String(status)}</Badge>
      {code && <span>{code}</span>}
      {cached && <span class="muted">{texts.keptResponse}</span>}
      {count > 1 && <span class="muted">{fill(texts.timesMany, { count })}</span>}
    </span>
  );
}

/** All that is known of a request, with each call to a model server. */
export function RequestDialog({ request, onClose }: { readonly request: AnyRequest; readonly onClose: () => void }) {
  const { account, attempts, end, cost, first_output_ms: first } = request;
  const facts = [
    [texts.id, <code key="id">{request.id}</code>],
    [texts.time, <Time key="time" at={request.at} />],
    [
      texts.result,
      [request.status, request.code, end && wordOf("end", end), request.cached && texts.keptResponse]
        .filter(Boolean)
        .join(" · "),
    ],
    [
      texts.account,
      account && (
        <a key="account" href={accountLink(account)}>
          {account}
        </a>
      ),
    ],
    [texts.plan, request.plan],
    [texts.keyId, request.key],
    [
      texts.tags,
      Object.entries(request.tags)
        .map((tag) => tag.join("="))
        .join(", "),
    ],
    [texts.endpoint, request.endpoint],
    [texts.model, [request.model, request.requested_model].filter(Boolean).join(" ← ")],
    [texts.tokens, `${number(request.input_tokens)} → ${number(request.output_tokens)}`],
    [texts.credits, credits(request.credits)],
    [texts.cost, cost === null ? null : credits(cost)],
    [texts.took, milliseconds(request.duration_ms)],
    [texts.firstOutput, first === null ? null : milliseconds(first)],
  ] as const;
  return (
    <Dialog title={texts.request} onClose={onClose}>
      <div class="stack">
        <Facts of={facts} />
        {attempts.length > 0 && (
          <Table
            caption={texts.attempts}
            columns={attemptColumns}
            rows={attempts}
            keyOf={({ started_ms, provider }) => `${started_ms} ${provider}`}
          />
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            {texts.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

const attemptColumns: readonly Column<OperatorRequest["attempts"][number]>[] = [
  {
    head: texts.attempts,
    cell: ({ provider, model, upstream_request_id }) => (
      <Two more={upstream_request_id && <Cut>{upstream_request_id}</Cut>}>
        <Cut>{`${provider}/${model}`}</Cut>
      </Two>
    ),
  },
  { head: texts.result, cell: ({ status, outcome }) => [status, wordOf("end", outcome)].filter(Boolean).join(" · ") },
  figures(texts.took, ({ duration_ms }) => duration_ms, milliseconds),
];
