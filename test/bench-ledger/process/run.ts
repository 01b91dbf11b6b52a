/**
 * Measures what a shared ledger costs in the gateway's process: the guard, the ledger and the store's client. See README.md.
 * Flags: --store redis  --against FOLDER  --rounds 5  --pairs 20000  --only 1,100,10000
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "../measure.js";
import { type Figures, measureBuild } from "./measure-build.js";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "redis" },
    against: { type: "string" },
    rounds: { type: "string", default: "5" },
    pairs: { type: "string", default: "20000" },
    only: { type: "string", default: "1,100,10000" },
    /** Of one build, in a process of its own: its folder. */
    measure: { type: "string" },
    counts: { type: "boolean", default: false },
  },
});
const { store, only, pairs, counts } = values;
const accounts = only.split(",").map(Number);

/** Nothing is collected while bytes are counted. Processor time is that of a process as hosts start it. */
const flagsOfCounts = ["--single-threaded-gc", "--max-semi-space-size=256", "--min-semi-space-size=256"];

function inProcess(folder: string, of: string, isCounted: boolean): Figures {
  const flags = ["--expose-gc", ...(isCounted ? flagsOfCounts : []), "--import", "tsx"];
  const file = fileURLToPath(import.meta.url);
  const args = [
    "--measure",
    folder,
    "--store",
    of,
    "--only",
    only,
    "--pairs",
    pairs,
    ...(isCounted ? ["--counts"] : []),
  ];
  return JSON.parse(execFileSync(process.execPath, [...flags, file, ...args], { encoding: "utf8" }));
}

function compare(): void {
  const own = fileURLToPath(new URL("../../..", import.meta.url));
  const builds = [
    { name: "now", folder: own, of: store },
    ...(values.against === undefined ? [] : [{ name: "before", folder: values.against, of: store }]),
    { name: "in memory", folder: own, of: "memory" },
  ];
  const rounds: Figures[][] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const found: Figures[] = [];
    for (const index of round % 2 === 0 ? builds.keys() : [...builds.keys()].reverse()) {
      const { folder, of } = builds[index] as (typeof builds)[number];
      found[index] = inProcess(folder, of, false);
    }
    rounds.push(found);
  }
  for (const [index, { name, folder, of }] of builds.entries()) {
    const counted = inProcess(folder, of, true);
    for (const count of accounts) {
      const used = rounds.map((round) => round[index]?.[count]?.cpu as number);
      const ratios = rounds.map((round, place) => (used[place] as number) / (round.at(1)?.[count]?.cpu as number));
      const { bytes, promises, scripts } = counted[count] as Figures[number];
      console.log(
        `${name}, ${count} accounts: ${median(used).toFixed(1)} µs (${Math.min(...used).toFixed(1)} to ` +
          `${Math.max(...used).toFixed(1)}), × ${median(ratios).toFixed(2)} of ${builds[1]?.name}; ` +
          `${bytes} bytes, ${promises} promises, ${scripts} scripts`,
      );
    }
  }
}

if (values.measure === undefined) compare();
else console.log(JSON.stringify(await measureBuild(values.measure, store, { accounts, pairs: Number(pairs), counts })));
