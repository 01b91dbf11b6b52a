import { spread } from "./statistics.mjs";

/** The whole report as text: a table for each workload, then the targets. */
export function reportText({ machine, rounds, workloads, targets }) {
  const parts = [
    `${machine.model}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}, ${machine.date.slice(0, 10)}`,
    machine.pinning === null
      ? "Nothing is pinned to a processor: there is no taskset here, or one core only."
      : `Pinned: gateway to processor ${machine.pinning.gateway}, upstream to ${machine.pinning.upstream}, load to ${machine.pinning.load}.`,
    `Medians of ${rounds} rounds; × is the ratio to the floor of the same round, with the smallest and the largest.`,
    othersLine(workloads),
    ...Object.values(workloads).map((workload) => (workload.memory ? memoryTable(workload) : workTable(workload))),
    targetTable(targets),
  ];
  return `${parts.filter((part) => part !== undefined).join("\n\n")}\n`;
}

/** What else the gateway's processor was busy with: nothing explains a strange figure as often. */
function othersLine(workloads) {
  const shares = Object.values(workloads).flatMap(({ results }) =>
    Object.values(results).flatMap(({ rounds }) => rounds.map(({ others }) => others)),
  );
  const share = spread(shares)?.median;
  if (share === undefined) return undefined;
  const advice = share > 0.05 ? " Run it again when the machine is idle: these figures are not to be relied on." : "";
  return `Other processes took ${fixed(share * 100, 1)} % of the gateway's processor.${advice}`;
}

function workTable(workload) {
  const { name, title, per, results } = workload;
  const header = [
    "",
    `CPU µs/${per}`,
    "×",
    "per second",
    "×",
    "p50 µs",
    "added",
    "p99 µs",
    "×",
    "busy",
    "RSS MB",
    "heap MB",
  ];
  const rows = named(workload).map(([label, { cpu, perSecond, busy, p50, p99, rss, heap, toFloor, overFloor }]) => [
    label,
    fixed(cpu?.median, 1),
    ranged(toFloor.cpu),
    fixed(perSecond?.median, 0),
    fixed(toFloor.perSecond?.median, 2),
    fixed(p50?.median, 0),
    fixed(overFloor.p50?.median, 0),
    fixed(p99?.median, 0),
    fixed(toFloor.p99?.median, 2),
    `${fixed(busy?.median * 100, 0)} %`,
    megabytes(rss?.median),
    megabytes(heap?.median),
  ]);
  return `${name}: ${title}\n${table([header, ...rows])}${storeLines(workload)}${failures(results)}`;
}

function storeLines(workload) {
  return named(workload)
    .filter(([, { storeCpu }]) => storeCpu !== undefined)
    .map(
      ([label, { storeCpu, scripts }]) =>
        `\n${label}: the store's server took ${ranged(storeCpu, 1, 1)} µs and ran ${ranged(scripts, 1, 3)} scripts per ${workload.per}`,
    )
    .join("");
}

function memoryTable(workload) {
  const { name, title, results } = workload;
  const header = ["", "RSS KB/stream", "over the floor", "heap KB/stream", "over the floor"];
  const rows = named(workload).map(([label, { rss, heap, overFloor }]) => [
    label,
    ranged(rss, 1024, 1),
    fixed(overFloor.rss?.median / 1024, 1),
    ranged(heap, 1024, 1),
    fixed(overFloor.heap?.median / 1024, 1),
  ]);
  return `${name}: ${title}\n${table([header, ...rows])}${failures(results)}`;
}

function failures(results) {
  const failed = Object.entries(results).filter(([, { error }]) => error !== undefined);
  return failed.map(([name, { error }]) => `\n${name} failed: ${error}`).join("");
}

function targetTable(targets) {
  const rows = targets.map(({ workload, title, limit, atLeast, unit, measured, met }) => [
    `${workload} ${title}`,
    `${atLeast ? "≥" : "≤"} ${limit}${unit === "×" ? "" : ` ${unit}`}`,
    ranged(measured, 1, unit === "×" ? 2 : 0),
    met ? "met" : "MISSED",
  ]);
  return `Targets\n${table([["", "must", "measured", ""], ...rows])}`;
}

function named({ variants, summary }) {
  return variants.filter(({ name }) => name in summary).map(({ name, title }) => [`${name} (${title})`, summary[name]]);
}

function fixed(value, digits) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

function ranged(value, divisor = 1, digits = 2) {
  if (value === undefined) return "–";
  const { median, min, max } = value;
  const [middle, low, high] = [median, min, max].map((number) => fixed(number / divisor, digits));
  return `${middle} (${low}–${high})`;
}

function megabytes(bytes) {
  return fixed(bytes / (1024 * 1024), 0);
}

/** The first column is left-aligned, the others right. */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}
