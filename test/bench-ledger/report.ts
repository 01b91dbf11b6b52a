import type { BenchSettings, LoadFigures, StoreFigures } from "./bench-store.js";
import type { Machine } from "./machine.js";
import type { Rate } from "./measure.js";
import type { Target } from "./targets.js";

export interface BenchResult {
  readonly machine: Machine;
  readonly settings: BenchSettings;
  readonly figures: Readonly<Record<string, StoreFigures>>;
  readonly targets: readonly Target[];
}

/** All of it as text. A pair is two operations. */
export function reportText({ machine, settings, figures, targets }: BenchResult): string {
  const rows = Object.entries(figures).flatMap(([store, { hot, many, bytesPerAccount }]) => [
    ...loadRows(`${store}, one account`, hot),
    ...loadRows(`${store}, ${settings.accounts} accounts`, many, bytesPerAccount),
  ]);
  const marks = targets.map(({ name, value, atLeast, met }) => [
    name,
    round(value),
    `>= ${atLeast}`,
    met ? "met" : "MISSED",
  ]);
  return [
    `${machine.model}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}, ${machine.date.slice(0, 10)}`,
    `Medians of ${settings.rounds} rounds of ${settings.seconds} s; × is the ratio in the same round. Times are of a pair: a reservation and its settlement.`,
    table(["", "operations/s", "p50 µs", "p99 µs", "×", "bytes/account"], rows),
    table(["target", "", "", ""], marks),
  ].join("\n\n");
}

function loadRows(
  name: string,
  { ledger, raw, toRaw, unbatched, toUnbatched }: LoadFigures,
  bytes?: number,
): string[][] {
  return [
    [...rateCells(name, ledger), "", bytes === undefined ? "" : Math.round(bytes).toString()],
    ...(raw ? [[...rateCells("  the store alone", raw), round(toRaw), ""]] : []),
    ...(unbatched ? [[...rateCells("  one operation at a time", unbatched), round(toUnbatched), ""]] : []),
  ];
}

function rateCells(name: string, { perSecond, p50, p99 }: Rate): string[] {
  return [name, Math.round(2 * perSecond).toString(), Math.round(p50).toString(), Math.round(p99).toString()];
}

function round(value = Number.NaN): string {
  return value >= 100 ? Math.round(value).toString() : value.toFixed(2);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(header), ...rows.map(line)].join("\n");
}
