import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where all that reads the repository passes by, as the packages of other folders are. */
const python = fileURLToPath(new URL("../node_modules/venv/bin/python", import.meta.url));

/** Whether `npm run python:install` was run here. */
export const hasPython = existsSync(python);

if (!hasPython) console.warn("SKIPPED: the tests with clients in Python. `npm run python:install` installs them.");

/** Runs a file of `calls`. @returns what it has printed. */
export async function runPython<T>(calls: string, ...args: readonly string[]): Promise<T> {
  const file = fileURLToPath(new URL(`../calls/${calls}_calls.py`, import.meta.url));
  const { stdout } = await run(python, ["-B", file, ...args], {
    // Nothing of this process's own, such as a proxy, goes with it.
    env: { PATH: process.env["PATH"] ?? "", HOME: fileURLToPath(new URL("../node_modules", import.meta.url)) },
    timeout: 120_000,
  });
  return JSON.parse(stdout) as T;
}
