/**
 * Runs the tests of the stores on each ground, and prints how many passed of each suite.
 * Arguments: `--outputFile.json=FILE` for the report of all of them; `--without-newest` where all tests run on the newest server
 * already. Other arguments are for a single run of vitest, and not for this.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { binariesOf, type Ground, grounds, hasGrounds, newestVersion, packageOf } from "./grounds.js";

/** What is read of the report of vitest. */
interface Report {
  numPassedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[];
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const outputFile = process.argv.map((given) => /^--outputFile\.json=(.+)$/.exec(given)?.[1]).find(Boolean);

const isDone = ({ binaries }: Ground) =>
  process.argv.includes("--without-newest") && binaries === binariesOf(newestVersion);
const wanted = grounds.filter((ground) => !isDone(ground));

if (!hasGrounds())
  throw new Error("The servers are not here: run `npm run grounds:install`, on Linux with an x64 processor.");
// npm may be told to run no scripts of packages. These make links beside the server's libraries.
for (const version of [14, 16, 17, 18]) {
  spawnSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: packageOf(version), stdio: "ignore" });
}

const results = mkdtempSync(join(tmpdir(), "infergate-grounds-"));
const total: Report = { numPassedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
const rows: string[][] = [["ground", "suite", "passed", "failed"]];
try {
  for (const [index, ground] of wanted.entries()) addReport(ground, await run(ground, join(results, `${index}.json`)));
} finally {
  rmSync(results, { recursive: true });
}
if (outputFile !== undefined) writeFileSync(outputFile, JSON.stringify(total));
const widths = (rows[0] as string[]).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] as number)).join("  "));

async function run({ binaries, mode, suites }: Ground, reportFile: string): Promise<Report | undefined> {
  const args = ["run", "--config", "test/vitest.config.ts", "--mode", mode, ...suites];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
  const env = { ...process.env, ...(binaries !== undefined && { POSTGRES_BIN: binaries }) };
  const child = spawn(process.execPath, [vitest, ...args, ...reporters], { cwd: root, env, stdio: "inherit" });
  const [status] = await once(child, "exit");
  if (status !== 0) process.exitCode = 1;
  try {
    return JSON.parse(readFileSync(reportFile, "utf8"));
  } catch {
    return undefined;
  }
}

function addReport({ name }: Ground, report: Report | undefined): void {
  if (report === undefined) {
    rows.push([name, "no report", "0", "1"]);
    return;
  }
  total.numPassedTests += report.numPassedTests;
  total.numPendingTests += report.numPendingTests;
  total.numTodoTests += report.numTodoTests;
  total.testResults.push(...report.testResults);
  for (const file of report.testResults) {
    const count = (wanted: string) => file.assertionResults.filter(({ status }) => status === wanted).length;
    const failed = count("failed") || (file.status === "failed" ? 1 : 0);
    rows.push([name, relative(root, file.name), String(count("passed")), String(failed)]);
  }
}
