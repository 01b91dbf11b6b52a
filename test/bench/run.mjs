import { mkdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { drawChart } from "./parts/chart.mjs";
import { isInstalled } from "./parts/is-installed.mjs";
import { describeMachine } from "./parts/machine.mjs";
import { reportText } from "./parts/report.mjs";
import { resultRecord } from "./parts/result-record.mjs";
import { runWorkload } from "./parts/run-workload.mjs";
import { snapshotBuild } from "./parts/snapshot.mjs";
import { summarizeWorkload } from "./parts/summary.mjs";
import { judge } from "./parts/targets.mjs";
import { builtElsewhere, variants } from "./parts/variants.mjs";
import { workloads } from "./parts/workloads.mjs";

const usage = `npm run bench -- [--only W1,W2a] [--variants floor,node] [--rounds 5] [--seconds 2] [--warm-up 5]
                [--against FOLDER]

  --only      workloads: ${workloads.map(({ name }) => name).join(", ")}
  --variants  ${variants.map(({ name }) => name).join(", ")}; the floor is always there
  --rounds    how often each variant is measured
  --seconds   how long a round measures; default: the workload's own
  --warm-up   seconds of load before each measurement; peers take 8 at least
  --against   another checkout, built and with its node_modules: its infergate takes turns with this one
  --output    folder of latest.json and chart.svg; default for a run of everything: results, and docs/speed.svg
`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    variants: { type: "string" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string" },
    "warm-up": { type: "string", default: "5" },
    against: { type: "string" },
    output: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit();
}

const options = {
  build: snapshotBuild(),
  rounds: positive("rounds", values.rounds),
  seconds: values.seconds === undefined ? undefined : positive("seconds", values.seconds),
  warmUpSeconds: positive("warm-up", values["warm-up"]),
};
const chosenWorkloads = choose(workloads, values.only, "workload");
const chosenVariants = choose(variants, values.variants && `floor,${values.variants}`, "variant");
if (values.against !== undefined) {
  chosenVariants.push(...builtElsewhere(chosenVariants, pathToFileURL(`${values.against}/`).href));
}

const machine = describeMachine();
const measured = {};
for (const workload of chosenWorkloads) {
  const { name, title, per, memory } = workload;
  const taking = chosenVariants.filter((variant) => isMeasured(variant, workload));
  const results = await runWorkload(workload, taking, options, progress);
  measured[name] = { name, title, per, memory, variants: taking, results, summary: summarizeWorkload(results) };
}
progress("");

const report = { machine, rounds: options.rounds, workloads: measured, targets: judge(measured) };
process.stdout.write(reportText(report));

const isWhole = [values.only, values.variants, values.against].every((value) => value === undefined);
/** The package has it, too. */
const chartOfDocs = new URL("../../docs/speed.svg", import.meta.url);
const output = values.output ?? (isWhole ? new URL("results/", import.meta.url) : undefined);
if (Object.values(measured).some(({ results }) => Object.values(results).some(({ error }) => error !== undefined))) {
  fail("Not everything could be measured: nothing is written.");
}
if (output !== undefined) writeResults(output);

function isMeasured({ name: variant, module = variant, workloads: only, program }, { name, variants: takers }) {
  // Another build's variant has the module of this one's.
  if (!(takers?.includes(module) ?? true) || !(only?.includes(name) ?? true)) return false;
  if (program === undefined || isInstalled(program)) return true;
  progress(`${name} ${variant}: left out, for there is no ${program} on this machine`);
  return false;
}

function writeResults(folder) {
  const inFolder = (name) => (folder instanceof URL ? new URL(name, folder) : `${folder}/${name}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(inFolder("latest.json"), `${JSON.stringify(resultRecord(report), null, 2)}\n`);
  const chart = drawChart(report);
  if (chart !== undefined) writeFileSync(folder instanceof URL ? chartOfDocs : inFolder("chart.svg"), chart);
}

function choose(all, names, what) {
  if (names === undefined) return all;
  const wanted = new Set(names.split(",").map((name) => name.trim()));
  for (const name of wanted) {
    if (!all.some((one) => one.name === name)) fail(`There is no ${what} "${name}".\n\n${usage}`);
  }
  return all.filter(({ name }) => wanted.has(name));
}

function positive(name, text) {
  const value = Number(text);
  if (!(value > 0)) fail(`--${name} must be a number above 0.`);
  return value;
}

/** On a terminal, one line that is written over; elsewhere, lines. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (text !== "") process.stderr.write(`${text}\n`);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
