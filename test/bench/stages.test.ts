import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("stages.mjs", import.meta.url));

interface Row {
  readonly name: string;
  readonly bytes: number;
  readonly over: { readonly bytes: number; readonly promises: number };
}

// It counts what is in dist: `npm run build` comes before.
describe("a feature that a call does not use", () => {
  it("costs the call nothing", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, "--unused", "--json", "--rounds", "1"]);
    const rows = JSON.parse(stdout) as readonly Row[];
    const [plain, ...unused] = rows;
    expect(unused.length).toBeGreaterThan(3);
    for (const { name, over } of unused) {
      expect({ name, promises: over.promises }).toEqual({ name, promises: 0 });
      expect({ name, isFree: over.bytes < 0.03 * Number(plain?.bytes) }).toEqual({ name, isFree: true });
    }
  });
});
