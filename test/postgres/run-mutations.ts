/**
 * Breaks the SQL of the PostgreSQL stores line by line, and reports the lines of which no test fails.
 * Arguments: what a mutation's name must contain. Takes some minutes; needs PostgreSQL.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { mutations } from "./mutations.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const wanted = process.argv[2] ?? "";
const survivors: string[] = [];

for (const { name, file = "test/postgres/postgres-credit-ledger.test.ts" } of mutations) {
  if (!name.includes(wanted)) continue;
  const args = ["vitest", "run", "--config", "test/vitest.config.ts", "--bail=1", "--retry=0", file];
  const env = { ...process.env, MUTATION: name, FC_RUNS: "150", REQUIRE_SERVICES: "1" };
  const { status } = spawnSync("npx", args, { cwd: root, env, stdio: "ignore" });
  console.log(`${status === 0 ? "SURVIVED" : "killed  "} ${name}`);
  if (status === 0) survivors.push(name);
}
console.log(survivors.length === 0 ? "None survived." : `${survivors.length} survived.`);
process.exitCode = survivors.length === 0 ? 0 : 1;
