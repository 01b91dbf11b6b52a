import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundled } from "../../support/bundled.js";
import type { LargeRun } from "./fixtures/translate-large.js";

const fixture = fileURLToPath(new URL("fixtures/translate-large.ts", import.meta.url));

/** How many slices of input and output may lie between two turns of other work, about: of some, several steps are made. */
const mostSlices = 2;

it("what is large is translated in slices, in little memory, whatever it holds", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--max-old-space-size=512", await bundled(fixture)], {
    maxBuffer: 2 ** 24,
  });
  const runs = JSON.parse(stdout) as LargeRun[];
  expect(runs.length).toBeGreaterThan(12);
  for (const { name, statuses, slices, turns } of runs) {
    expect([name, new Set(statuses)]).toEqual([name, new Set([200])]);
    expect([name, turns > slices / mostSlices]).toEqual([name, true]);
  }
}, 300_000);
