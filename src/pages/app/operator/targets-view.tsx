import { useState } from "preact/hooks";
import type { OperatorTarget, OperatorTargets } from "../../operator/operator-page-api.js";
import { Choice } from "../parts/field.js";
import { columnOf, number, percent } from "../parts/format.js";
import { Badge, Empty } from "../parts/notice.js";
import { type Column, DownloadButton, figures, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { Ago, Cut, milliseconds, Shown, Two, wordOf } from "./pieces.js";
import { withQuery } from "./query.js";
import { type OperatorViewProps, texts } from "./settings.js";

const ranges = [
  ["today", texts.today],
  ["month", texts.thisMonth],
  ["before", texts.lastMonth],
] as const;

type Range = (typeof ranges)[number][0];

/** What each target is doing, and what it has answered, to compare with an invoice. */
export function TargetsView({ health }: OperatorViewProps) {
  const [range, setRange] = useState<Range>("month");
  const targets = useApi<OperatorTargets>(withQuery("targets", timesOf(range)));
  return (
    <>
      <div class="tools">
        <Choice label={texts.range} options={ranges} value={range} onChange={setRange} />
      </div>
      <Shown of={targets} missing={texts.noUsage}>
        {({ data }) => {
          const rows = data.map(
            (row): Row => ({ ...row, now: health.targets.filter((one) => nameOf(one) === row.target) }),
          );
          const columns = columnsOf(rows);
          return (
            <section class="card" aria-label={texts.targets}>
              {rows.length === 0 ? (
                <Empty title={texts.noTargets} />
              ) : (
                <Table caption={texts.targets} columns={columns} rows={rows} keyOf={({ target }) => target} />
              )}
              <div class="row">
                <p class="muted">{texts.targetsHint}</p>
                <DownloadButton name={`targets-${range}.csv`} columns={columns} rows={rows} />
              </div>
            </section>
          );
        }}
      </Shown>
    </>
  );
}

/** Months of UTC, as invoices mostly have them. */
function timesOf(range: Range): { from: number; to?: number } {
  const now = new Date();
  const month = (ago: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago) / 1000;
  if (range === "today") return { from: new Date().setHours(0, 0, 0, 0) / 1000 };
  return range === "month" ? { from: month(0) } : { from: month(1), to: month(0) };
}

type Listed = OperatorTargets["data"][number];

interface Row extends Listed {
  readonly now: readonly OperatorTarget[];
}

function nameOf({ provider, upstream }: OperatorTarget): string {
  return `${provider}/${upstream}`;
}

const units = ["images", "audio_ms", "characters", "searches"] as const;

function columnsOf(rows: readonly Row[]): readonly Column<Row>[] {
  const count = (head: string, read: (usage: NonNullable<Row["usage"]>) => number) =>
    figures<Row>(head, ({ usage }) => (usage === null ? 0 : read(usage)));
  /** In the file alone. */
  const filed = (head: string, read: (usage: NonNullable<Row["usage"]>) => number): Column<Row> => {
    return { head, csv: ({ usage }) => (usage === null ? 0 : read(usage)) };
  };
  return [
    { head: texts.target, cell: ({ target }) => <Cut>{target}</Cut>, csv: ({ target }) => target },
    { head: texts.breaker, cell: ({ now }) => <Breaker now={now} /> },
    figures(texts.active, ({ now }) => now.reduce((sum, { active }) => sum + active, 0)),
    {
      head: texts.firstOutput,
      isNumeric: true,
      cell: ({ first_output: speed }) =>
        speed === null ? (
          "–"
        ) : (
          <Two more={fill(texts.p95, { time: milliseconds(speed.p95_ms) })}>{milliseconds(speed.p50_ms)}</Two>
        ),
    },
    count(texts.calls, ({ requests }) => requests),
    {
      ...count(texts.input, ({ tokens }) => tokens.input),
      cell: ({ usage }) => {
        const { input = 0, cached = 0 } = usage?.tokens ?? {};
        return <Two more={cached > 0 && fill(texts.ofCached, { count: number(cached) })}>{number(input)}</Two>;
      },
    },
    filed(texts.cached, ({ tokens }) => tokens.cached),
    filed(texts.cacheWrites, ({ tokens }) => tokens.cache_write),
    count(texts.output, ({ tokens }) => tokens.output),
    filed(texts.reasoning, ({ tokens }) => tokens.reasoning),
    ...units.map((unit) => filed(unit, (usage) => usage.units[unit])),
    figures(texts.cost, ({ usage }) => usage?.cost ?? null, columnOf(rows.flatMap(({ usage }) => usage?.cost ?? []))),
  ];
}

const order = ["open", "resting", "half_open", "closed"] as const;
const tones = { open: "danger", resting: "warning", half_open: "warning", closed: "good" } as const;

/** The worst of the models that it serves. */
function Breaker({ now }: { readonly now: readonly OperatorTarget[] }) {
  const state = order.find((one) => now.some((target) => target.state === one));
  if (state === undefined) return <span class="muted">{texts.gone}</span>;
  const rate = Math.max(...now.map(({ failure_rate }) => failure_rate ?? 0));
  const until = Math.max(...now.map(({ available_at }) => available_at ?? 0));
  return (
    <span class="tags">
      <Badge tone={tones[state]}>{wordOf("breaker", state)}</Badge>
      {rate > 0 && <span class="muted">{fill(texts.failing, { share: percent(rate) })}</span>}
      {until > 0 && <Ago at={until} />}
    </span>
  );
}
