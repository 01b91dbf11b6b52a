import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundled } from "../../../support/bundled.js";

const finder = fileURLToPath(new URL("../fixtures/find-hostile-texts.ts", import.meta.url));

/**
 * How often each byte may be looked at, at the most. What was found and is replaced takes some looks, and a machine that
 * is busy several times as many. Time that grows with the square of the size is thousands.
 */
const mostLooks = 400;

it("the texts of no prompt take more time than in proportion to its size, found and replaced", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [await bundled(finder), String(mostLooks), "1"], {
    maxBuffer: 2 ** 24,
  });
  const { enoughMs, readings } = JSON.parse(stdout) as {
    enoughMs: number;
    readings: { name: string; msPerMebibyte: number }[];
  };
  expect(readings.length).toBeGreaterThan(100);
  expect(readings.filter(({ msPerMebibyte }) => msPerMebibyte > enoughMs)).toEqual([]);
}, 300_000);
