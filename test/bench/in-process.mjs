// What the gateway's own code costs, without sockets, against a provider in the same process: W1, W2a and W3 of chat
// completions, W1 also with another prompt each time and with an answer of 200 KB; W7, the other protocols on servers that
// speak them; W8, streams that are translated; W9, calls of the host's own code.
// node test/bench/in-process.mjs [--only W1,W7] [--against FOLDER] [--rounds 9]
// FOLDER is another build's dist; the two take turns.
import { execFileSync } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { callerOf, gatewayFor } from "./parts/in-process-gateway.mjs";
import { inProcessWorkloads } from "./parts/in-process-workloads.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    against: { type: "string" },
    rounds: { type: "string", default: "9" },
    measure: { type: "string" },
  },
});
// Other builds may be older, and not know the other protocols.
const wanted = (values.only ?? (values.against === undefined ? "W" : "W1,W2a,W3")).split(",");
const names = Object.keys(inProcessWorkloads).filter((name) => wanted.some((start) => name.startsWith(start)));
const own = fileURLToPath(new URL("../../dist", import.meta.url));

/** Each measurement has a process of its own, and the builds take turns, so that a loud minute hits both. */
function compare(builds) {
  const results = builds.map(() => Object.fromEntries(names.map((name) => [name, []])));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [index, dist] of round % 2 === 0 ? builds.entries() : [...builds.entries()].reverse()) {
      const script = fileURLToPath(import.meta.url);
      const found = JSON.parse(
        execFileSync(process.execPath, ["--expose-gc", script, "--measure", dist, "--only", names.join(",")], {
          encoding: "utf8",
        }),
      );
      for (const [name, cpu] of Object.entries(found)) results[index][name].push(cpu);
    }
  }
  for (const name of names) {
    const [mine, other] = results.map((result) => result[name]);
    const ratios = other?.map((cpu, round) => mine[round] / cpu);
    const range = () => `(${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
    const against =
      other === undefined ? "" : `  against ${median(other).toFixed(2)}: × ${median(ratios).toFixed(3)} ${range()}`;
    console.log(
      `${name}  ${median(mine).toFixed(2)} µs, least ${Math.min(...mine).toFixed(2)}${against}${compared(name, results[0])}`,
    );
  }
}

/** The ratio to another workload of the same round. */
function compared(name, result) {
  const { to } = inProcessWorkloads[name];
  if (to === undefined || to === name || result[to] === undefined) return "";
  const ratios = result[name].map((cpu, round) => cpu / result[to][round]);
  return `  × ${median(ratios).toFixed(2)} of ${to}`;
}

function median(numbers) {
  return [...numbers].sort((one, other) => one - other)[numbers.length >> 1];
}

const rounds = 8;

/** CPU time of one call in microseconds, the least of some rounds. */
async function measure(dist) {
  const { createGateway, memoryKeyStore, memoryPlanStore, memoryCreditLedger } = await import(
    pathToFileURL(`${dist}/index.js`).href
  );
  const parts = { createGateway, memoryKeyStore, memoryPlanStore, memoryCreditLedger };
  const found = {};
  for (const name of names) {
    const workload = inProcessWorkloads[name];
    const gateway = gatewayFor(workload, parts);
    found[name] = await least(workload.calls, callerOf(gateway, workload));
    await gateway.close();
  }
  return found;
}

async function least(calls, call) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    globalThis.gc?.();
    const before = process.cpuUsage();
    for (let count = 0; count < calls; count++) await call();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / calls);
  }
  return best;
}

if (values.measure === undefined) compare([own, values.against].filter((dist) => dist !== undefined));
else console.log(JSON.stringify(await measure(values.measure)));
