import type { OperatorLedger } from "../../operator/operator-page-api.js";
import { duration, number } from "../parts/format.js";
import { Badge } from "../parts/notice.js";
import { type Column, figures, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Ago, Facts, Two } from "./pieces.js";
import { type OperatorViewProps, texts } from "./settings.js";

/** How the ledger is, or each of its shards, and what waits in this process. */
export function LedgerView({ health: { ledgers, request_log, audit_lost } }: OperatorViewProps) {
  return (
    <>
      <p class="muted">{texts.ledgerHint}</p>
      <section class="card" aria-label={texts.ledger}>
        <Table caption={texts.ledger} columns={columns} rows={ledgers} keyOf={({ shard }) => shard ?? ""} />
      </section>
      <section class="card" aria-labelledby="books">
        <h2 id="books">{texts.books}</h2>
        <Facts
          of={[
            [texts.logWaiting, request_log === null ? texts.noLog : number(request_log.waiting)],
            [texts.logDropped, request_log === null ? null : number(request_log.dropped)],
            [texts.auditLost, number(audit_lost)],
          ]}
        />
      </section>
    </>
  );
}

const columns: readonly Column<OperatorLedger>[] = [
  { head: texts.ledger, cell: ({ shard }) => shard ?? texts.theLedger },
  {
    head: texts.status,
    cell: ({ down_since }) =>
      down_since === null ? (
        <Badge tone="good">{texts.up}</Badge>
      ) : (
        <Two more={<Ago at={down_since} />}>
          <Badge tone="danger">{texts.down}</Badge>
        </Two>
      ),
  },
  {
    head: texts.kept,
    isNumeric: true,
    cell: ({ kept, kept_since }) => <Two more={kept_since && <Ago at={kept_since} />}>{number(kept)}</Two>,
  },
  figures(texts.lost, ({ lost }) => lost),
  figures(texts.outages, ({ outages }) => outages),
  {
    head: texts.lastOutage,
    cell: ({ last_outage: last }) =>
      last === null ? (
        texts.none
      ) : (
        <Two more={duration(last.to - last.from)}>
          <Time at={last.from} />
        </Two>
      ),
  },
];
