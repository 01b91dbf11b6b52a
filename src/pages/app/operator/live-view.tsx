import { useState } from "preact/hooks";
import type { OperatorLive } from "../../operator/operator-page-api.js";
import { credits } from "../parts/format.js";
import { Badge, Empty } from "../parts/notice.js";
import { type Column, figures, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { Cut, cut, milliseconds, Shown, Two, wordOf } from "./pieces.js";
import { type AnyRequest, keyOfRequest, RequestDialog, requestColumns } from "./requests-view.js";
import { texts } from "./settings.js";

const everyMs = 3_000;

/** What this process is serving, and what has failed in it lately. */
export function LiveView() {
  const live = useApi<OperatorLive>("live", everyMs);
  const [shown, show] = useState<AnyRequest>();
  return (
    <>
      <p class="muted">{texts.liveHint}</p>
      <Shown of={live} missing={texts.noLive}>
        {({ count, requests, failures }) => (
          <>
            <section class="card" aria-labelledby="running">
              <h2 id="running">{fill(texts.running, { count })}</h2>
              {requests.length === 0 ? (
                <Empty title={texts.noneRunning} />
              ) : (
                <Table caption={texts.live} columns={columns} rows={requests} keyOf={({ id, at }) => `${id} ${at}`} />
              )}
            </section>
            <section class="card" aria-labelledby="failures">
              <h2 id="failures">{texts.lastFailures}</h2>
              {failures.length === 0 ? (
                <Empty title={texts.noFailures} />
              ) : (
                <Table
                  caption={texts.lastFailures}
                  columns={requestColumns(show)}
                  rows={failures}
                  keyOf={keyOfRequest}
                />
              )}
            </section>
          </>
        )}
      </Shown>
      {shown && <RequestDialog request={shown} onClose={() => show(undefined)} />}
    </>
  );
}

const columns: readonly Column<OperatorLive["requests"][number]>[] = [
  cut(texts.account, ({ account }) => account),
  {
    head: texts.status,
    cell: ({ state }) => <Badge tone={state === "checking" ? "warning" : "good"}>{wordOf("live", state)}</Badge>,
  },
  {
    head: texts.model,
    cell: ({ model, target, attempt }) => (
      <Two more={target && <Cut>{attempt !== null && attempt > 1 ? `${target} (${attempt})` : target}</Cut>}>
        <Cut>{model}</Cut>
      </Two>
    ),
  },
  figures(texts.held, ({ held }) => held, credits),
  figures(texts.took, ({ elapsed_ms }) => elapsed_ms, milliseconds),
];
