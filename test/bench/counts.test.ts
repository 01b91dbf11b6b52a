import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import counts from "./results/counts.json" with { type: "json" };

const program = fileURLToPath(new URL("counts.mjs", import.meta.url));

// It counts what is in dist: `npm run build` comes before.
describe("what a call allocates, and how many promises it makes", () => {
  it.each(Object.keys(counts))("%s: not more than a twentieth above what is on file", async (name) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, "--only", name]);
    expect(stdout).toContain(`${name}  `);
  });
});
