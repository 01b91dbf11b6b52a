/**
 * Breaks the stores line by line, and reports the lines of which no test fails.
 * Argument: a regular expression for a mutation's name, with its store's before it, such as "redis: an?". Takes some minutes; needs Redis and PostgreSQL.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { allMutations } from "./all-mutations.js";
import { inFolder } from "./in-folder.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const vitest = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url));
/** What has not ended by then will not: to hang is to be found, too. It is told apart, for a busy machine is only slow. */
const timeoutMs = 300_000;
const wanted = new RegExp(process.argv[2] ?? "");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const tasks = allMutations.flatMap(({ store, testFolder = store, tests, mutations }) =>
  mutations
    .map(({ name, test }) => ({
      name: `${store}: ${name}`,
      args: inFolder(testFolder, test === undefined ? tests : [test].flat()),
    }))
    .filter(({ name }) => wanted.test(name)),
);
const survivors: string[] = [];
const count = tasks.length;

await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
      const fate = await test(task.name, task.args);
      console.log(`${fate.padEnd(8)} ${task.name}`);
      if (fate === "SURVIVED") survivors.push(task.name);
    }
  }),
);
console.log(`${count - survivors.length} of ${count} killed.`);
for (const name of survivors) console.log(`SURVIVED ${name}`);
process.exitCode = survivors.length === 0 ? 0 : 1;

function test(name: string, args: readonly string[]): Promise<"SURVIVED" | "killed" | "hung"> {
  const fixed = ["run", "--config", "test/vitest.config.ts", "--bail=1", "--maxWorkers=1"];
  // A group of its own, so that what hangs is ended with the servers that it has started.
  const child = spawn(process.execPath, [vitest, ...fixed, ...args], {
    cwd: root,
    env: { ...process.env, MUTATION: name, REQUIRE_SERVICES: "1" },
    stdio: "ignore",
    detached: true,
  });
  let hangs = false;
  const end = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  const timer = setTimeout(() => {
    hangs = true;
    end();
  }, timeoutMs);
  process.once("exit", end);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      clearTimeout(timer);
      process.off("exit", end);
      resolve(code === 0 ? "SURVIVED" : hangs ? "hung" : "killed");
    });
  });
}
