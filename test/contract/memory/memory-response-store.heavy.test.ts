import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundled } from "../../support/bundled.js";

const script = fileURLToPath(new URL("fixtures/fill-response-store.ts", import.meta.url));
const mebibyte = 2 ** 20;

/** In a process of its own: of what shares a heap, nobody can say who holds how much, and until when. */
it.each(["many items", "nothing", "long ids", "large texts"])(
  "the bounds of memoryResponseStore bound the memory that is taken by responses of %s",
  async (name) => {
    const { stdout } = await promisify(execFile)(process.execPath, [await bundled(script), name]);
    const { taken, isThere } = JSON.parse(stdout) as { taken: number; isThere: boolean };
    expect(isThere).toBe(true);
    expect(taken / mebibyte).toBeGreaterThan(1);
    expect(taken / mebibyte).toBeLessThan(20);
  },
);
