import { useState } from "preact/hooks";
import type { OperatorAccount, OperatorBalance, OperatorEntry, OperatorKey } from "../../operator/operator-page-api.js";
import { columnOf, credits } from "../parts/format.js";
import { Meter } from "../parts/meter.js";
import { Badge, Empty, Notice } from "../parts/notice.js";
import { type Column, figures, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { Time } from "../parts/time.js";
import { useApi } from "../parts/use-api.js";
import { AccountForm, type AccountTask, KeyForm, type KeyTask } from "./account-actions.js";
import { PagedTable } from "./paged-table.js";
import { Ago, Cut, cut, Facts, Shown, Status, Tasks, Two, times, wordOf } from "./pieces.js";
import { viewLink, withQuery } from "./query.js";
import { type OperatorViewProps, texts } from "./settings.js";

const bookings: readonly AccountTask[] = ["topUp", "grant", "deduct", "reset"];

/** One account: what it has left, its keys, its journal, and what can be done. */
export function AccountView({ health, rest: id }: OperatorViewProps) {
  const account = useApi<OperatorAccount>(withQuery("account", { id }));
  return (
    <Shown of={account} missing={texts.noAccountStore} height={520}>
      {(data) => (
        <>
          <Head account={data} isReadOnly={health.read_only} reload={account.reload} />
          {data.record?.status === "suspended" && (
            <Notice tone="warning">{data.record.message ?? texts.suspendedMore}</Notice>
          )}
          {data.balance === null ? (
            <Notice tone="warning">{texts.creditsUnknownMore}</Notice>
          ) : (
            <Balance balance={data.balance} />
          )}
          <Terms account={data} />
          <Keys account={data} isReadOnly={health.read_only} reload={account.reload} />
          <h2>{texts.journal}</h2>
          {data.entries === null ? (
            <Notice>{texts.noJournal}</Notice>
          ) : (
            <PagedTable<OperatorEntry>
              key={data.entries[0]?.id}
              path={withQuery("account/history", { id, limit: 20 })}
              caption={texts.journal}
              columns={entryColumns}
              keyOf={({ id: entry, at, kind }) => `${entry} ${at} ${kind}`}
              empty={texts.noEntries}
              missing={texts.noJournal}
              file="journal.csv"
            />
          )}
        </>
      )}
    </Shown>
  );
}

interface PartProps {
  readonly account: OperatorAccount;
  readonly isReadOnly: boolean;
  readonly reload: () => Promise<void>;
}

function Head({ account, isReadOnly, reload }: PartProps) {
  const [task, setTask] = useState<AccountTask>();
  const { id, record, balance } = account;
  const status = record?.status ?? "active";
  const terms: readonly AccountTask[] = record === null ? [] : ["terms", status === "active" ? "suspend" : "resume"];
  return (
    <div class="tools">
      <div class="row start">
        <a href="#accounts">← {texts.accounts}</a>
        <Status status={status} />
        <Badge>{record?.plan ?? balance?.plan ?? texts.none}</Badge>
        <a href={viewLink("requests", { account: id })}>{texts.requests}</a>
        <a href={viewLink("audit", { account: id })}>{texts.audit}</a>
      </div>
      {!isReadOnly && <Tasks of={id} tasks={[...bookings, ...terms]} onTask={setTask} />}
      {task && <AccountForm {...{ task, account }} onDone={reload} onClose={() => setTask(undefined)} />}
    </div>
  );
}

function Balance({ balance }: { readonly balance: OperatorBalance }) {
  const { prepaid } = balance;
  return (
    <div class="grid">
      {(["month", "week", "session"] as const).map((name) => {
        const { resets_at, remaining: _, ...window } = balance[name];
        return (
          <div key={name} class="card">
            <Meter label={texts[name]} {...window}>
              {resets_at !== null && (
                <span>
                  {texts.resets} <Ago at={resets_at} />
                </span>
              )}
            </Meter>
          </div>
        );
      })}
      {prepaid && (
        <div class="card">
          <div class={`meter ${prepaid.balance < 0 ? "danger" : ""}`}>
            <div class="row">
              <span class="label">{texts.prepaid}</span>
              {prepaid.balance < 0 && <span class="state">{texts.owes}</span>}
            </div>
            <p class="figure">{credits(prepaid.balance)}</p>
            {prepaid.lots.map(({ expires_at, left }) => (
              <p key={expires_at} class="muted">
                {fill(texts.lot, { left: credits(left) })}{" "}
                {expires_at === null ? texts.neverExpires : <Time at={expires_at} />}
              </p>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}

function Terms({ account: { record, budgets } }: { readonly account: OperatorAccount }) {
  if (record === null) return <Notice>{texts.noRecord}</Notice>;
  const facts = [
    [texts.models, record.models?.join(", ")],
    [texts.priceFactor, record.price_factor],
    [texts.anchor, record.anchor && <Time at={record.anchor} />],
    [texts.rates, record.rates && <code>{JSON.stringify(record.rates)}</code>],
    [texts.budgets, budgets?.map(({ tag, value }) => (value === null ? tag : `${tag}=${value}`)).join(", ")],
    ...Object.entries(record.metadata).map(([name, value]) => [name, String(value)] as const),
  ] as const;
  return facts.some(([, value]) => value) ? (
    <section class="card" aria-label={texts.termsOf}>
      <h2>{texts.termsOf}</h2>
      <Facts of={facts} />
    </section>
  ) : null;
}

function Keys({ account: { keys }, isReadOnly, reload }: PartProps) {
  const [task, setTask] = useState<readonly [KeyTask, OperatorKey]>();
  const columns: Column<OperatorKey>[] = [
    {
      head: texts.key,
      cell: ({ id, name, hint }) => (
        <Two more={<Cut>{id}</Cut>}>
          <Cut>{name ?? hint}</Cut>
        </Two>
      ),
    },
    { head: texts.status, cell: ({ state }) => <Badge tone={tones[state]}>{wordOf("key", state)}</Badge> },
    cut(texts.tags, ({ tags }) =>
      Object.entries(tags)
        .map((tag) => tag.join("="))
        .join(", "),
    ),
    {
      head: texts.lastUsed,
      cell: ({ last_used_at }) => (last_used_at === null ? texts.never : <Ago at={last_used_at} />),
    },
  ];
  if (!isReadOnly) {
    columns.push({
      head: texts.change,
      cell: (key) => (
        <Tasks
          of={key.name ?? key.hint}
          tasks={
            key.state === "revoked"
              ? []
              : (["move", key.state === "disabled" ? "enable" : "disable", "revoke"] as const)
          }
          onTask={(name) => setTask([name, key])}
        />
      ),
    });
  }
  return (
    <section class="card" aria-labelledby="keys">
      <h2 id="keys">{texts.keys}</h2>
      {keys.length === 0 ? (
        <Empty title={texts.noKeys} />
      ) : (
        <Table caption={texts.keys} columns={columns} rows={keys} keyOf={({ id }) => id} />
      )}
      {task && <KeyForm task={task[0]} of={task[1]} onDone={reload} onClose={() => setTask(undefined)} />}
    </section>
  );
}

const tones = { active: "good", ending: "warning", disabled: "warning", expired: "danger", revoked: "danger" } as const;

const entryColumns: readonly Column<OperatorEntry>[] = [
  times(),
  { head: texts.kind, cell: ({ kind }) => wordOf("entry", kind), csv: ({ kind }) => kind },
  figures(texts.credits, ({ credits: amount }) => amount, columnOf([0.0001])),
  cut(texts.about, ({ tags }) =>
    [tags["model"], tags["by"], tags["note"]].filter((part) => part !== undefined).join(" · "),
  ),
  cut(texts.id, ({ id }) => id),
];
