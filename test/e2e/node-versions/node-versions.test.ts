import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectedOfScenario } from "../../meta/package/expected-of-scenario.js";
import { installArchive } from "../../meta/package/install-archive.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

/** What `engines` allows at the least, the versions that are maintained, and the newest. */
const majors = [20, 22, 24, 26];
const binaryOf = (major: number) => join(root, `test/e2e/node-versions/node_modules/node-${major}/bin/node`);

// What says that this is a test of vitest is not for the runner of Node.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name)));

/** The packed package in a project of its own, with what this checkout has built. */
let project = "";
const rows: Record<string, string>[] = [];

beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), "infergate-node-versions-")));
  const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  });
  const [archive]: { filename: string }[] = JSON.parse(stdout);
  await cp(join(root, "test/meta/package/consumer"), project, { recursive: true });
  await cp(join(root, "test/e2e/node-versions/ledger-suite.mjs"), join(project, "ledger-suite.mjs"));
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true }));
  await installArchive(join(project, archive?.filename ?? ""), project);
});

afterAll(async () => {
  console.table(rows);
  await rm(project, { recursive: true, force: true });
});

describe.each(majors)("Node %i", (major) => {
  const binary = binaryOf(major);
  const node = (...args: string[]) =>
    run(binary, args, { cwd: project, env, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 });
  const row: Record<string, string> = {};

  beforeAll(async () => {
    expect(existsSync(binary), "Run `npm run node-versions:install`.").toBe(true);
    row["version"] = (await node("--version")).stdout.trim();
    rows.push(row);
  });

  it.each(["import", "require"])("answers whole and streamed by %s, and prints no warning", async (kind) => {
    const { stdout, stderr } = await node(kind === "import" ? "scenario-import.mjs" : "scenario-require.cjs");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(expectedOfScenario);
    row[kind] = "passed";
  });

  // Node 20 has no node:sqlite.
  it.skipIf(major < 22)("keeps credits exact in node:sqlite, by the suite of infergate/testing", async () => {
    const { stdout } = await node("--test", "--test-reporter=tap", "ledger-suite.mjs").catch((error) => error);
    const count = (kind: string) => Number(new RegExp(`^# ${kind} (\\d+)$`, "m").exec(stdout)?.[1]);
    row["ledger on node:sqlite"] = `${count("pass")} passed, ${count("fail")} failed`;
    expect(count("fail"), stdout.slice(-5000)).toBe(0);
    expect(count("pass")).toBeGreaterThan(100);
  });
});
