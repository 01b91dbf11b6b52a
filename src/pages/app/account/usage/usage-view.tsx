import { useState } from "preact/hooks";
import type { AccountKey, AccountUsage } from "../../../account/account-page-api.js";
import { Choice, SelectField, TextField } from "../../parts/field.js";
import { columnOf, compact, credits, number, percent, timeZone } from "../../parts/format.js";
import { Ready } from "../../parts/notice.js";
import { type Column, DownloadButton, figures, Table, words } from "../../parts/table.js";
import { fill } from "../../parts/texts.js";
import { keyName, useKeys, type ViewProps } from "../reader.js";
import { textOf, texts } from "../settings.js";
import { amountOf, type Measure, UsageChart } from "./usage-chart.js";
import { type Usage, useUsage } from "./use-usage.js";

const ranges = ["1", "7", "30", "90"].map((days) => [days, textOf("range", days)] as const);
const measures = (["credits", "requests", "tokens"] as const).map((measure) => [measure, texts[measure]] as const);
const another = "…";

/** What was used, by day or hour, and by whatever tells calls apart. */
export function UsageView({ me }: ViewProps) {
  const [days, setDays] = useState("30");
  const [measure, setMeasure] = useState<Measure>("credits");
  const [by, setBy] = useState("model");
  const [tag, setTag] = useState("");
  const keys = useKeys();
  const tags = new Set([...Object.keys(me.tags), ...(keys ?? []).flatMap((key) => Object.keys(key.tags))]);
  const usage = useUsage({ days: Number(days), by: by === another ? `tag.${tag || "member"}` : by });
  const nameOf = namesOf(usage.by, keys);
  return (
    <>
      <div class="tools">
        <Choice label={texts.range} options={ranges} value={days} onChange={setDays} />
        <Choice label={texts.measure} options={measures} value={measure} onChange={setMeasure} />
      </div>
      <div class="tools end">
        <SelectField
          label={texts.by}
          value={by}
          onChange={setBy}
          options={[
            ["model", texts.byModel],
            ["key", texts.byKey],
            ["funding", texts.byFunding],
            ...[...tags].map((name) => [`tag.${name}`, fill(texts.byTag, { tag: name })] as const),
            [another, texts.byOther],
          ]}
        />
        {by === another && <TextField label={texts.tagName} value={tag} onInput={(text) => setTag(text.trim())} />}
        <span class="muted">{fill(texts.times, { zone: timeZone })}</span>
      </div>
      <Sums rows={usage.data ?? []} />
      <section class="card" aria-label={texts.usage}>
        <Ready of={usage} height={300}>
          {() => <UsageChart usage={usage} measure={measure} nameOf={nameOf} />}
        </Ready>
      </section>
      <Groups usage={usage} nameOf={nameOf} measure={measure} />
    </>
  );
}

/** What the values of a thing are called: keys by their names. */
function namesOf(by: string, keys: readonly AccountKey[] | undefined): (value: string | null) => string {
  return (value) => {
    if (by === "key") return keyName(keys, value);
    if (value === null) return texts.untagged;
    return by === "funding" ? textOf("funding", value) : value;
  };
}

/** All of the rows as one. */
function sumOf(rows: readonly AccountUsage[], measure: Measure) {
  const sum = (value: (row: AccountUsage) => number) => rows.reduce((total, row) => total + value(row), 0);
  return {
    size: sum((row) => amountOf(row, measure)),
    credits: sum((row) => row.credits),
    requests: sum((row) => row.requests),
    refused: sum(({ refusals, failures }) => (refusals ?? 0) + (failures ?? 0)),
    input: sum((row) => row.input_tokens),
    cached: sum((row) => row.cached_tokens),
    output: sum((row) => row.output_tokens),
  };
}

function Sums({ rows }: { readonly rows: readonly AccountUsage[] }) {
  const sum = sumOf(rows, "credits");
  const shown = [
    [texts.credits, credits(sum.credits)],
    [texts.requests, number(sum.requests)],
    [texts.input, compact(sum.input)],
    [texts.output, compact(sum.output)],
    [texts.refusals, number(sum.refused)],
  ] as const;
  return (
    <dl class="sums card">
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt class="muted">{name}</dt>
          <dd class="figure">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface GroupsProps {
  readonly usage: Usage;
  readonly nameOf: (value: string | null) => string;
  readonly measure: Measure;
}

/** All of the time, one line for each value. */
function Groups({ usage: { data = [], by }, nameOf, measure }: GroupsProps) {
  const groups = Map.groupBy(data, (row) => row.by[by] ?? null);
  const rows = [...groups].map(([value, group]) => ({ name: nameOf(value), ...sumOf(group, measure) }));
  rows.sort((one, other) => other.size - one.size);
  if (rows.length === 0) return null;
  const all = rows.reduce((sum, { size }) => sum + size, 0) || 1;
  const columns: Column<(typeof rows)[number]>[] = [
    words(texts.by, ({ name }) => name),
    figures(texts.requests, ({ requests }) => requests),
    figures(texts.refusals, ({ refused }) => refused),
    figures(texts.input, ({ input }) => input),
    figures(texts.cached, ({ cached }) => cached),
    figures(texts.output, ({ output }) => output),
    figures(texts.credits, (row) => row.credits, columnOf(rows.map((row) => row.credits))),
    figures(texts.share, ({ size }) => size / all, percent),
  ];
  return (
    <section class="card" aria-labelledby="groups">
      <div class="row">
        <h2 id="groups">{texts.total}</h2>
        <DownloadButton name="usage.csv" columns={columns} rows={rows} />
      </div>
      <Table caption={texts.total} columns={columns} rows={rows} keyOf={({ name }) => name} />
    </section>
  );
}
