/**
 * Runs the tests of the providers against the newest undici: the newest of the pinned major, and the newest of all that
 * this Node is allowed to have. The project's own node_modules and package.json stay as they are.
 * Arguments: versions of undici instead, such as 7.30.0. Where the registry cannot be reached, it says so and passes.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { completeCopy, type ProjectCopy, pinnedVersion, startCopy } from "./project-copy.js";

/** Against what hangs. */
const timeoutMs = 900_000;
// The copies are removed then, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const pinned = pinnedVersion();
const asked = process.argv.slice(2);
const done = new Set(asked.length > 0 ? [] : [pinned]);
const passed: string[] = [];
const failed: string[] = [];

for (const wanted of asked.length > 0 ? asked : [pinned.split(".")[0] ?? "", "*"]) {
  const copy = copyOf(wanted);
  if (copy === undefined || done.has(copy.version)) {
    copy?.remove();
    continue;
  }
  done.add(copy.version);
  process.once("exit", copy.remove);
  try {
    const problems = await findProblems(copy);
    if (problems.length === 0) passed.push(`undici ${copy.version}: all tests of the providers pass.`);
    else failed.push(`undici ${copy.version}: ${problems.join("; ")}.`);
  } catch (error) {
    failed.push(`undici ${copy.version}: could not be tried. ${error}`);
  } finally {
    copy.remove();
    process.off("exit", copy.remove);
  }
}
if (done.size === 1 && passed.length + failed.length === 0) {
  passed.push(`undici ${pinned} is the newest for Node ${process.versions.node}: \`npm test\` runs it.`);
}
const mark = process.env["GITHUB_ACTIONS"] === "true" ? "::warning::" : "WARNING: ";
for (const line of [...passed, ...failed.map((text) => mark + text)]) console.log(line);
process.exitCode = failed.length > 0 ? 1 : 0;

/** `undefined`: not to be had. */
function copyOf(wanted: string): ProjectCopy | undefined {
  try {
    return startCopy(wanted);
  } catch (error) {
    const said = `npm cannot install undici@${wanted} (${reasonOf(error)})`;
    // What was asked for by its name has to be there.
    if (asked.length > 0) failed.push(`${said}.`);
    else passed.push(`SKIPPED: ${said}.`);
    return undefined;
  }
}

/** Npm's own code, such as `ETARGET` or `ECONNREFUSED`. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
  return said.match(/(?<=^npm error code ).+/m)?.[0] ?? String(error);
}

async function findProblems(copy: ProjectCopy): Promise<string[]> {
  console.log(`\nundici ${copy.version} (pinned: ${pinned}), Node ${process.versions.node}`);
  completeCopy(copy);
  const sources = { extends: "./tsconfig.json", include: ["src"] };
  writeFileSync(join(copy.folder, "tsconfig.src.json"), JSON.stringify(sources));
  const typesFit = await run(copy, "typescript/bin/tsc", "-p", "tsconfig.src.json");
  const fixed = ["run", "--config", "test/vitest.config.ts", "--reporter=dot", "--bail=1"];
  const testsPass = await run(copy, "vitest/vitest.mjs", ...fixed, "test/http/providers/");
  return [...(typesFit ? [] : ["its types do not fit"]), ...(testsPass ? [] : ["tests of the providers fail"])];
}

function run({ folder }: ProjectCopy, script: string, ...args: string[]): Promise<boolean> {
  const child = spawn(process.execPath, [join(folder, "node_modules", script), ...args], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: timeoutMs,
  });
  const end = () => child.kill();
  process.once("exit", end);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      process.off("exit", end);
      resolve(code === 0);
    });
  });
}
