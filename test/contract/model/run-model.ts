/**
 * Compares the ledgers with the oracle in random commands, one ledger after the other.
 * Arguments: how many commands for each, default 10,000; then the ledgers, default all. `MODEL_SEED` repeats a run.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const vitest = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url));
const all = ["memory", "sqlite", "redis", "postgres"];
const [commands = "10000", ...named] = process.argv.slice(2);
const seed = process.env["MODEL_SEED"] ?? String(Date.now() % 1_000_000_000);
if (!(Number(commands) >= 1)) throw new Error(`The number of commands must be at least 1, not ${commands}.`);
for (const name of named) if (!all.includes(name)) throw new Error(`There is no ledger "${name}".`);

for (const name of named.length > 0 ? named : all) {
  const args = ["run", "--config", "test/vitest.config.ts", "--mode", "model", `test/contract/model/${name}.test.ts`];
  const { status } = spawnSync(process.execPath, [vitest, ...args], {
    cwd: fileURLToPath(new URL("../../..", import.meta.url)),
    env: { ...process.env, MODEL_COMMANDS: commands, MODEL_SEED: seed },
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}
