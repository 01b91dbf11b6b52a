/**
 * What it costs a process to load the package: `npm run bench:import [-- --rounds 15]`. Fresh processes, in turns with
 * one that loads nothing, medians. Reads dist/: build first.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import { loadedScripts } from "../meta/package/loaded-scripts.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const rounds = Number(values.rounds);

/** What a gateway in memory with one model server is made by. */
const gateway = `createGateway({
  models: [{ id: "a/b", type: "chat", contextLength: 1000, price: { input: 1, output: 1 },
    upstream: { provider: "openai", model: "m" } }],
  keys: memoryKeyStore([{ key: "sk-demo", account: "acct_1", plan: "pro" }]),
  plans: memoryPlanStore({ pro: { models: ["a/*"], credits: { session: 100 } } }),
  ledger: memoryCreditLedger(),
  providers: { openai: openAI({ apiKey: "sk-upstream" }) },
})`;
const names = "{ createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAI }";

interface Start {
  readonly name: string;
  readonly type: "module" | "commonjs";
  readonly code: string;
}

const entries = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target !== "string")
  .map(([path]) => path.replace(".", "infergate"));
const starts: Start[] = [
  { name: "nothing", type: "module", code: "" },
  ...entries.map((entry): Start => ({ name: `import ${entry}`, type: "module", code: `await import("${entry}")` })),
  { name: "import and createGateway", type: "module", code: `const ${names} = await import("infergate"); ${gateway}` },
  { name: "require infergate", type: "commonjs", code: 'require("infergate")' },
  { name: "require and createGateway", type: "commonjs", code: `const ${names} = require("infergate"); ${gateway}` },
];

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
  readonly mib: number;
}

async function costOf({ type, code }: Start): Promise<Cost> {
  const measured = `
    const rss = process.memoryUsage.rss();
    const cpu = process.cpuUsage();
    const time = performance.now();
    ${code};
    const ms = performance.now() - time;
    const { user, system } = process.cpuUsage(cpu);
    const mib = (process.memoryUsage.rss() - rss) / 2 ** 20;
    console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000, mib }));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, [`--input-type=${type}`, "--eval", measured], {
    cwd: root,
  });
  return JSON.parse(stdout);
}

function median(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((one, other) => one - other);
  return (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toFixed(1).padStart(7);
}

const costs = starts.map((): Cost[] => []);
for (let round = 0; round < rounds; round++) {
  for (const [index, start] of starts.entries()) costs[index]?.push(await costOf(start));
}
console.log(`Node ${process.version}, medians of ${rounds} rounds\n     ms  cpu ms     MiB    files      KB`);
for (const [index, start] of starts.entries()) {
  const found = costs[index] ?? [];
  const loaded = await loadedScripts(root, `--input-type=${start.type}`, "--eval", `${start.code}; process.exit()`);
  const columns = [found.map(({ ms }) => ms), found.map(({ cpuMs }) => cpuMs), found.map(({ mib }) => mib)].map(median);
  const size = `${String(loaded.paths.length).padStart(9)} ${(loaded.bytes / 1000).toFixed(0).padStart(7)}`;
  console.log(`${columns.join(" ")}${size}  ${start.name}`);
}
