import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundled } from "../../support/bundled.js";

interface Reading {
  name: string;
  mebibytes: number;
  msPerMebibyte: number;
}

const reader = fileURLToPath(new URL("fixtures/read-hostile-bodies.ts", import.meta.url));

/** How often each byte may be looked at, at the most: a body that becomes values takes hundreds of times as long. */
const mostLooks = 60;

/** In MiB: what the process takes by itself, and three bytes for each byte of the largest body. */
const heap = 40 + 3 * 32;

it("no body takes more time or memory than in proportion to its size, whatever it holds where", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [`--max-old-space-size=${heap}`, await bundled(reader), String(mostLooks)],
    { maxBuffer: 2 ** 24 },
  );
  const { enoughMs, readings } = JSON.parse(stdout) as { enoughMs: number; readings: Reading[] };
  expect(readings.length).toBeGreaterThan(400);
  expect(readings.filter(({ msPerMebibyte }) => msPerMebibyte > enoughMs)).toEqual([]);
}, 300_000);
