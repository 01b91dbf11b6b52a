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

/** One driver is enough for that. */
const contract = ["test/postgres/postgres-credit-ledger.test.ts", "-t", "on pg|with the oracle"];

for (const { name, file } of mutations) {
  if (!name.includes(wanted)) continue;
  const args = ["vitest", "run", "--config", "test/vitest.config.ts", "--bail=1", ...(file ? [file] : contract)];
  const env = { ...process.env, MUTATION: name, REQUIRE_SERVICES: "1" };
  const { status } = spawnSync("npx", args, { cwd: root, env, stdio: "ignore" });
  console.log(`${status === 0 ? "SURVIVED" : "killed  "} ${name}`);
  if (status === 0) survivors.push(name);
}
console.log(survivors.length === 0 ? "None survived." : `${survivors.length} survived.`);
process.exitCode = survivors.length === 0 ? 0 : 1;
