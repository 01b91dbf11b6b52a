import { useState } from "preact/hooks";
import type { OperatorOverview, OperatorUsage } from "../../operator/operator-page-api.js";
import { Chart, type Series } from "../parts/chart.js";
import { Choice } from "../parts/field.js";
import { columnOf, credits, instant, number, percent, timeZone } from "../parts/format.js";
import { Empty } from "../parts/notice.js";
import { type Column, figures, Table } from "../parts/table.js";
import { fill } from "../parts/texts.js";
import { failureShare, marginShare } from "../parts/today-shares.js";
import { useApi } from "../parts/use-api.js";
import { milliseconds, Shown } from "./pieces.js";
import { withQuery } from "./query.js";
import { texts } from "./settings.js";

const everyMs = 60_000;
const hourSeconds = 3600;

type Measure = "calls" | "credits";

/** The day so far, at a glance. */
export function TodayView() {
  const from = new Date().setHours(0, 0, 0, 0) / 1000;
  const overview = useApi<OperatorOverview>(withQuery("overview", { from, time_zone: timeZone }), everyMs);
  return (
    <Shown of={overview} missing={texts.noUsage} height={640}>
      {(data) => (
        <>
          <Figures overview={data} />
          <Hours overview={data} />
          <section class="card" aria-labelledby="models-today">
            <h2 id="models-today">{texts.modelsToday}</h2>
            {data.models.length === 0 ? (
              <Empty title={texts.noCalls} />
            ) : (
              <Table
                caption={texts.modelsToday}
                columns={columnsOf(data.models)}
                rows={data.models}
                keyOf={({ by }) => by["model"] ?? ""}
              />
            )}
          </section>
        </>
      )}
    </Shown>
  );
}

function Figures({ overview: { today, before, first_output } }: { readonly overview: OperatorOverview }) {
  const { requests, refusals, failures, cost, margin } = today;
  const failed = failureShare(today);
  const left = marginShare(today);
  const shown: readonly (readonly [label: string, value: string, more: string])[] = [
    [texts.calls, number(requests), change(requests, before.requests)],
    [
      texts.errors,
      failed === undefined ? "–" : number(failures ?? 0),
      failed === undefined
        ? texts.noLog
        : fill(texts.errorsMore, { share: percent(failed), refusals: number(refusals ?? 0) }),
    ],
    [texts.credits, credits(today.credits), change(today.credits, before.credits)],
    [texts.cost, cost === null ? "–" : credits(cost), cost === null ? texts.noCost : change(cost, before.cost ?? 0)],
    [
      texts.margin,
      margin === null ? "–" : credits(margin),
      left === undefined ? texts.noCost : fill(texts.marginMore, { share: percent(left) }),
    ],
    [
      texts.firstOutput,
      milliseconds(first_output?.p50_ms ?? null),
      first_output === null
        ? texts.noStreams
        : fill(texts.firstOutputMore, { p95: milliseconds(first_output.p95_ms), count: number(first_output.requests) }),
    ],
  ];
  return (
    <div class="grid stats">
      {shown.map(([label, value, more]) => (
        <section key={label} class="card" aria-label={label}>
          <p class="muted">{label}</p>
          <p class="figure">{value}</p>
          <p class="muted">{more}</p>
        </section>
      ))}
    </div>
  );
}

function change(now: number, before: number): string {
  if (before === 0) return texts.noneYesterday;
  if (now >= 2 * before) return fill(texts.timesYesterday, { times: number(now / before, 0, 1) });
  const part = now / before - 1;
  return fill(part < 0 ? texts.lessThanYesterday : texts.moreThanYesterday, { share: percent(Math.abs(part)) });
}

const measures = [
  ["calls", texts.calls],
  ["credits", texts.credits],
] as const;

type Part = readonly [name: string, color: number, read: (usage: OperatorUsage) => number];

const partsOf: Readonly<Record<Measure, readonly Part[]>> = {
  calls: [
    [texts.served, 0, ({ requests }) => requests],
    [texts.refusals, 2, ({ refusals }) => refusals ?? 0],
    [texts.failures, 6, ({ failures }) => failures ?? 0],
  ],
  credits: [
    [texts.margin, 0, ({ margin }) => Math.max(0, margin ?? 0)],
    [texts.cost, 5, ({ cost }) => cost ?? 0],
    [texts.noKnownCost, 1, ({ credits: charged, costed }) => Math.max(0, charged - (costed ?? 0))],
  ],
};

function Hours({ overview: { from, hours } }: { readonly overview: OperatorOverview }) {
  const [measure, setMeasure] = useState<Measure>("calls");
  const end = new Date(from * 1000).setHours(24, 0, 0, 0) / 1000;
  const starts = Array.from(
    { length: Math.round((end - from) / hourSeconds) },
    (_, index) => from + index * hourSeconds,
  );
  const found = new Map(hours.map((hour) => [hour.period?.from, hour]));
  const series = partsOf[measure]
    .map(([name, color, read]): Series => {
      return {
        name,
        color,
        values: starts.map((start) => (found.has(start) ? read(found.get(start) as OperatorUsage) : 0)),
      };
    })
    .filter(({ values }, index) => index === 0 || values.some((value) => value > 0));
  const columns: Column<number>[] = [
    { head: texts.hour, cell: clock },
    ...series.map(({ name, values }) => figures<number>(name, (start) => values[starts.indexOf(start)] ?? 0, credits)),
  ];
  const label = fill(texts.hoursChart, { measure: texts[measure] });
  return (
    <section class="card" aria-label={label}>
      <div class="row">
        <h2>{texts.byHour}</h2>
        <Choice label={texts.show} options={measures} value={measure} onChange={setMeasure} />
      </div>
      <Chart
        label={label}
        periods={starts.map((start) => ({ short: clock(start), full: instant(start) }))}
        series={series}
        format={credits}
      />
      <details>
        <summary>{texts.showTable}</summary>
        <Table caption={label} columns={columns} rows={starts} keyOf={String} />
      </details>
    </section>
  );
}

function clock(seconds: number): string {
  return instant(seconds, { hour: "numeric", minute: "2-digit" });
}

function columnsOf(rows: readonly OperatorUsage[]): Column<OperatorUsage>[] {
  const money = (head: string, read: (usage: OperatorUsage) => number | null) =>
    figures(head, read, columnOf(rows.flatMap((row) => read(row) ?? [])));
  return [
    { head: texts.model, cell: ({ by }) => by["model"] ?? texts.none },
    figures(texts.calls, ({ requests }) => requests),
    figures(texts.input, ({ tokens }) => tokens.input),
    figures(texts.cached, ({ tokens }) => tokens.cached),
    figures(texts.output, ({ tokens }) => tokens.output),
    money(texts.credits, ({ credits: charged }) => charged),
    money(texts.cost, ({ cost }) => cost),
    money(texts.margin, ({ margin }) => margin),
  ];
}
