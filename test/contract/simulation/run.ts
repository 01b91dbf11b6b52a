/**
 * Simulates many processes on one store and on two. See README.md.
 * Flags: --only load,faults  --loads 1:14000,2:28000  --seconds 6  --seed 1  --output file
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { describeMachine } from "../../bench-ledger/machine.js";
import type { Figures } from "./figures.js";
import { faultTable, type LoadRun, loadTable } from "./report.js";
import { faultScenario, loadScenario, type Scenario } from "./scenario.js";
import { simulate } from "./simulate.js";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "load,faults" },
    loads: { type: "string", default: "1:8000,1:14000,1:18000,2:28000" },
    seconds: { type: "string", default: "6" },
    seed: { type: "string", default: "1" },
    output: { type: "string" },
  },
});
const seed = Number(values.seed);
const parts = values.only.split(",");
const startedAt = Date.now();
let mostBytes = 0;

async function run(scenario: Scenario): Promise<Figures> {
  console.warn(`${scenario.shards} of ${scenario.callsPerSecond} calls/s for ${scenario.seconds} s…`);
  const figures = await simulate(scenario);
  mostBytes = Math.max(mostBytes, process.memoryUsage().rss);
  return figures;
}

const load: LoadRun[] = [];
if (parts.includes("load")) {
  for (const text of values.loads.split(",")) {
    const [shards = Number.NaN, callsPerSecond = Number.NaN] = text.split(":").map(Number);
    const figures = await run(loadScenario({ shards, callsPerSecond }, Number(values.seconds), seed));
    load.push({ shards, callsPerSecond, figures });
    // After each run: the larger ones take their time.
    console.log(`${loadTable(load)}\n`);
  }
}
const faults: { shards: number; figures: Figures }[] = [];
if (parts.includes("faults")) {
  for (const shards of [1, 2]) {
    faults.push({ shards, figures: await run(faultScenario(shards, seed)) });
    console.log(`${faultTable(faults)}\n`);
  }
}
const took = { seconds: Math.round((Date.now() - startedAt) / 1_000), megabytes: Math.round(mostBytes / 2 ** 20) };
const machine = describeMachine();
console.log(`${machine.date}, ${machine.cores} cores, Node ${machine.node}: ${took.seconds} s, ${took.megabytes} MiB.`);
if (values.output !== undefined) {
  const result = { machine, took, seed, load, faults };
  writeFileSync(values.output, `${JSON.stringify(result, undefined, 2)}\n`);
}
