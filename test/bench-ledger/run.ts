/**
 * Measures the ledgers, each beside what its store does without one. See README.md.
 * Flags: --only redis,sqlite  --seconds 2  --rounds 5  --accounts 100000  --output file
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { benchStore, type StoreFigures } from "./bench-store.js";
import type { OpenStore } from "./benched-store.js";
import { describeMachine } from "./machine.js";
import { reportText } from "./report.js";
import { openMemory } from "./stores/memory.js";
import { openPostgres } from "./stores/postgres.js";
import { openRedis } from "./stores/redis.js";
import { openSqlite } from "./stores/sqlite.js";
import { targets } from "./targets.js";

const stores: Readonly<Record<string, OpenStore>> = {
  memory: openMemory,
  sqlite: openSqlite,
  redis: openRedis,
  postgres: openPostgres,
};

const { values } = parseArgs({
  options: {
    only: { type: "string", default: Object.keys(stores).join(",") },
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "5" },
    accounts: { type: "string", default: "100000" },
    output: { type: "string" },
  },
});
const settings = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  accounts: Number(values.accounts),
};

const figures: Record<string, StoreFigures> = {};
for (const name of values.only.split(",")) {
  const open = stores[name];
  if (open === undefined) throw new Error(`There is no store "${name}": take ${Object.keys(stores).join(", ")}.`);
  const store = await open();
  if (store === undefined) {
    console.warn(`SKIPPED: ${name} is not installed on this machine.`);
    continue;
  }
  console.warn(`${name}…`);
  try {
    figures[name] = await benchStore(store, settings);
  } finally {
    await store.close();
  }
}

const result = { machine: describeMachine(), settings, figures, targets: targets(figures) };
console.log(reportText(result));
if (values.output !== undefined) writeFileSync(values.output, `${JSON.stringify(result, undefined, 2)}\n`);
process.exitCode = result.targets.every(({ met }) => met) ? 0 : 1;
