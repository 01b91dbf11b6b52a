import type { AccountUsage } from "../../../account/account-page-api.js";
import { Chart, type Series } from "../../parts/chart.js";
import { columnOf, credits, number } from "../../parts/format.js";
import { Empty } from "../../parts/notice.js";
import { type Column, DownloadButton, figures, Table } from "../../parts/table.js";
import { fill } from "../../parts/texts.js";
import { texts } from "../settings.js";
import type { Usage, UsagePeriod } from "./use-usage.js";

export type Measure = "credits" | "requests" | "tokens";

export function amountOf(row: AccountUsage, measure: Measure): number {
  return measure === "tokens" ? row.input_tokens + row.output_tokens : row[measure];
}

/** As many as there are colours, the last for all others. */
const mostSeries = 6;

interface UsageChartProps {
  readonly usage: Usage;
  readonly measure: Measure;
  /** What a value of `by` is called. Default: as it is. */
  readonly nameOf?: (value: string | null) => string;
}

/** What was used over time, as a chart and as a table. */
export function UsageChart({ usage, measure, nameOf = (value) => value ?? texts.untagged }: UsageChartProps) {
  const { periods } = usage;
  const series = seriesOf(usage, measure, nameOf);
  if (series.length === 0) return <Empty title={texts.usageEmpty} text={texts.usageEmptyMore} />;
  const label = fill(texts.usageChart, {
    measure: texts[measure],
    from: periods[0]?.full ?? "",
    to: periods.at(-1)?.full ?? "",
    total: credits(series.reduce((sum, one) => sum + total(one), 0)),
  });
  return (
    <>
      <Chart label={label} periods={periods} series={series} format={credits} />
      <PeriodTable {...{ series, periods, measure, label }} />
    </>
  );
}

/** The largest ones, and all others as one. */
function seriesOf(
  { data = [], periods, by }: Usage,
  measure: Measure,
  nameOf: (value: string | null) => string,
): readonly Series[] {
  const groups = Map.groupBy(data, (row) => row.by[by] ?? null);
  const all = [...groups].map(([value, rows]): Series => {
    const amounts = new Map(rows.map((row) => [row.period?.from, amountOf(row, measure)]));
    return { name: nameOf(value), values: periods.map(({ from }) => amounts.get(from) ?? 0) };
  });
  const sorted = all.filter((series) => total(series) > 0).sort((one, other) => total(other) - total(one));
  if (sorted.length <= mostSeries) return sorted;
  const rest = sorted.splice(mostSeries - 1);
  const values = periods.map((_, index) => rest.reduce((sum, series) => sum + (series.values[index] ?? 0), 0));
  return [...sorted, { name: texts.other, values }];
}

function total({ values }: Series): number {
  return values.reduce((sum, value) => sum + value, 0);
}

interface PeriodTableProps {
  readonly series: readonly Series[];
  readonly periods: readonly UsagePeriod[];
  readonly measure: Measure;
  readonly label: string;
}

function PeriodTable({ series, periods, measure, label }: PeriodTableProps) {
  const format = measure === "credits" ? columnOf(series.flatMap(({ values }) => values)) : number;
  const rows = periods.map((period, index) => ({ ...period, index }));
  const columns: Column<(typeof rows)[number]>[] = [
    { head: texts.time, cell: ({ full }) => full, csv: ({ from }) => new Date(from * 1000).toISOString() },
    ...series.map(({ name, values }) =>
      figures(name, ({ index }: { readonly index: number }) => values[index] ?? 0, format),
    ),
  ];
  return (
    <details>
      <summary>{texts.showTable}</summary>
      <div class="stack">
        <Table caption={label} columns={columns} rows={rows.toReversed()} keyOf={({ from }) => String(from)} />
        <div class="actions">
          <DownloadButton name={`usage-${measure}.csv`} columns={columns} rows={rows} />
        </div>
      </div>
    </details>
  );
}
