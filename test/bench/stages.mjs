// What each stage of a plain call costs, and what each feature costs beyond a plain call: microseconds, bytes, promises, in
// process and without sockets.
// node test/bench/stages.mjs [--only stages,"caps of the key"] [--of "a message"] [--unused] [--rounds 3] [--json]

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bytesOf, countingFlags, promisesOf, timeOf } from "./parts/count-call.mjs";
import { callerOf, gatewayFor } from "./parts/in-process-gateway.mjs";
import { table } from "./parts/report.mjs";
import { stageRows } from "./parts/stage-rows.mjs";
import { stageTable } from "./parts/stage-table.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    of: { type: "string", default: "plain" },
    rounds: { type: "string", default: "3" },
    unused: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    measure: { type: "string" },
  },
});
const dist = new URL("../../dist/index.js", import.meta.url);
const stagesOfCall = "stages";

/** A call of a row, by a gateway of its own. */
async function callOf(row) {
  const gateway = gatewayFor(row, await import(dist.href));
  await row.prepare?.(gateway);
  return { call: callerOf(gateway, row), close: () => gateway.close() };
}

function rowOf(name) {
  const row = stageRows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`There is no row "${name}".`);
  return row;
}

async function measureRow(row) {
  const { call, close } = await callOf(row);
  const isLong = row.calls < 1000;
  for (let count = 0; count < (isLong ? 300 : 4000); count++) await call();
  const bytes = await bytesOf(call, isLong ? 40 : 400);
  const promises = await promisesOf(call, isLong ? 40 : 400);
  const time = await timeOf(call, isLong ? 200 : 4000);
  await close();
  return { time, bytes, promises };
}

async function measureStages() {
  const row = rowOf(values.of);
  const { call, close } = await callOf(row);
  for (let count = 0; count < row.calls; count++) await call();
  const stages = await stageTable(call, row.calls);
  await close();
  return stages;
}

/** In a process of its own: what one row makes of the compiler's knowledge must not change another. */
function measured(name) {
  const script = fileURLToPath(import.meta.url);
  const flags = name === stagesOfCall ? ["--expose-gc"] : countingFlags;
  return JSON.parse(
    execFileSync(process.execPath, [...flags, script, "--measure", name, "--of", values.of], { encoding: "utf8" }),
  );
}

/** The rows take turns, so that a loud minute hits all of them. */
function measureRows(rows) {
  const results = new Map(rows.map(({ name }) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const { name } of rows) results.get(name).push(measured(name));
  }
  return rows.map((row) => {
    const own = results.get(row.name);
    const base = results.get(row.to);
    const over = (figure) =>
      base === undefined ? undefined : middle(own.map((one, at) => one[figure] - base[at][figure]));
    const of = (figure) => middle(own.map((one) => one[figure]));
    return {
      ...{ name: row.name, to: row.to, unused: row.unused ?? false },
      ...{ time: of("time"), bytes: of("bytes"), promises: of("promises") },
      over: { time: over("time"), bytes: over("bytes"), promises: over("promises") },
    };
  });
}

function middle(numbers) {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1];
}

/** @returns the wanted rows, and those that they are compared with. */
function wantedRows(wanted) {
  const chosen = stageRows.filter(({ name }) => wanted?.includes(name) ?? true);
  const needed = new Set(chosen.flatMap(({ name, to }) => [name, to]));
  return stageRows.filter(({ name }) => needed.has(name));
}

function printStages() {
  const stages = measured(stagesOfCall);
  const sum = (figure) => stages.reduce((total, stage) => total + stage[figure], 0);
  const line = ({ name, time, bytes, promises }) => [name, time.toFixed(2), bytes.toFixed(0), String(promises)];
  const all = { name: "together", time: sum("time"), bytes: sum("bytes"), promises: sum("promises") };
  print(`The stages of a call: ${values.of}`, [["", "µs", "bytes", "promises"], ...[...stages, all].map(line)]);
}

function printRows(rows) {
  const signed = (value, digits) => (value === undefined ? "" : `${value < 0 ? "" : "+"}${value.toFixed(digits)}`);
  const lines = rows.map(({ name, to, unused, time, bytes, promises, over }) => [
    `${name}${to === undefined || to === "plain" ? "" : `, beyond ${to}`}${unused ? " (unused)" : ""}`,
    ...[signed(over.time, 1), signed(over.bytes, 0), signed(over.promises, 0)],
    ...[time.toFixed(1), String(bytes), String(promises)],
  ]);
  print("What is beyond a plain call", [["", "µs", "bytes", "promises", "all: µs", "bytes", "promises"], ...lines]);
}

function print(title, lines) {
  process.stdout.write(`${title}\n${table(lines)}\n\n`);
}

if (values.measure === undefined) {
  const unused = stageRows.filter((row) => row.unused).map(({ name }) => name);
  const wanted = values.unused ? unused : values.only?.split(",");
  if (values.json) process.stdout.write(JSON.stringify(measureRows(wantedRows(wanted))));
  else {
    if (wanted?.includes(stagesOfCall) ?? true) printStages();
    if (wanted?.some((name) => name !== stagesOfCall) ?? true) printRows(measureRows(wantedRows(wanted)));
  }
} else {
  const isStages = values.measure === stagesOfCall;
  process.stdout.write(JSON.stringify(isStages ? await measureStages() : await measureRow(rowOf(values.measure))));
}
