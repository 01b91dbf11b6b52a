import type { Figures } from "./figures.js";
import type { Load } from "./scenario.js";

type Column = readonly [title: string, cell: (figures: Figures) => string];

const count = (value: number): string => Math.round(value).toLocaleString("en-US");
const fixed = (value: number, digits: number): string => value.toFixed(digits);
/** Not rounded up: what is below 1 must not look like it. */
const floored = (value: number): string => fixed(Math.floor(value * 1_000) / 1_000, 3);
const percent = (part: number): string => `${fixed(100 * part, 0)} %`;
const ms = (value: number): string => `${value < 10 ? fixed(value, 1) : count(value)} ms`;

const loadColumns: readonly Column[] = [
  ["admitted/s", ({ admittedPerSecond }) => count(admittedPerSecond)],
  ["503/s", ({ unavailablePerSecond }) => count(unavailablePerSecond)],
  ["operations/s", ({ operationsPerSecond }) => count(operationsPerSecond)],
  ["operations/script", ({ measuredOperationsPerScript }) => fixed(measuredOperationsPerScript, 2)],
  ["busy", ({ utilisation }) => percent(utilisation)],
  ["reserve p50", ({ reserveMs }) => ms(reserveMs.p50)],
  ["p99", ({ reserveMs }) => ms(reserveMs.p99)],
  ["most", ({ reserveMs }) => ms(reserveMs.most)],
];

const faultRows: readonly Column[] = [
  ["calls", ({ calls }) => count(calls)],
  ["accounts that called", ({ accounts }) => count(accounts)],
  ["admitted", ({ admitted }) => count(admitted)],
  ["denied", ({ denied }) => count(denied)],
  ["503", ({ unavailable }) => count(unavailable)],
  ["operations per call", ({ operationsPerCall }) => fixed(operationsPerCall, 2)],
  ["scripts per call", ({ scriptsPerCall }) => fixed(scriptsPerCall, 2)],
  ["busy", ({ utilisation }) => percent(utilisation)],
  ["reserve p50, p99", ({ reserveMs }) => `${ms(reserveMs.p50)}, ${ms(reserveMs.p99)}`],
  ["denied though true costs left credits", ({ wrongDenials, calls }) => ofCalls(wrongDenials, calls)],
  ["of these while holds of dead processes were open", ({ wrongByCrash }) => count(wrongByCrash)],
  ["largest overdraft at an admission, in requests", ({ mostOverdrawn }) => floored(mostOverdrawn)],
  ["largest use beyond a limit in the end, in requests", ({ mostOverspent }) => floored(mostOverspent)],
  ["holds that dead processes left", ({ blockedHolds }) => count(blockedHolds)],
  ["credits they blocked, times seconds", ({ blockedCreditSeconds }) => fixed(blockedCreditSeconds, 1)],
  ["the largest part of a limit", ({ mostBlocked }) => percent(mostBlocked)],
  ["acknowledged operations that fail-overs lost", ({ lostOperations }) => count(lostOperations)],
  ["settlements sent once more", ({ replayedSettlements }) => count(replayedSettlements)],
  [
    "settlements kept, given up",
    ({ keptSettlements, lostSettlements }) => `${count(keptSettlements)}, ${count(lostSettlements)}`,
  ],
  ["accounts whose counters differ from the journal", ({ unbalanced }) => count(unbalanced)],
  ["calls charged too much", ({ overcharged }) => count(overcharged)],
  ["calls of living processes charged too little", ({ undercharged }) => count(undercharged)],
  ["charged, in credits", ({ chargedMicro }) => fixed(chargedMicro / 1_000_000, 3)],
  ["cost of dead processes' calls not charged, in credits", ({ unpaidMicro }) => fixed(unpaidMicro / 1_000_000, 3)],
];

function ofCalls(part: number, calls: number): string {
  return `${count(part)} (${fixed((100 * part) / calls, 2)} %)`;
}

/** A run at one rate. */
export interface LoadRun extends Load {
  readonly figures: Figures;
}

/** A row for each rate. */
export function loadTable(runs: readonly LoadRun[]): string {
  const rows = runs.map(({ shards, callsPerSecond, figures }) => [
    ...[String(shards), count(callsPerSecond)],
    ...loadColumns.map(([, cell]) => cell(figures)),
  ]);
  return table([["stores", "calls/s", ...loadColumns.map(([title]) => title)], ...rows]);
}

/** A row for each figure, a column for each run. */
export function faultTable(runs: readonly { readonly shards: number; readonly figures: Figures }[]): string {
  const rows = faultRows.map(([title, cell]) => [title, ...runs.map(({ figures }) => cell(figures))]);
  return table([["", ...runs.map(({ shards }) => (shards === 1 ? "one store" : `${shards} stores`))], ...rows]);
}

/** In Markdown, the first row as the head. */
function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
