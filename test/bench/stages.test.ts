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
    let dearer = await dearerFeatures();
    // When the compiler comes late, code that it has not seen allocates more.
    for (let again = 0; again < 4 && dearer.length > 0; again++) {
      const still = await dearerFeatures();
      dearer = dearer.filter((name) => still.includes(name));
    }
    expect(dearer).toEqual([]);
  });

  async function dearerFeatures(): Promise<string[]> {
    const { stdout } = await promisify(execFile)(process.execPath, [program, "--unused", "--json", "--rounds", "1"]);
    const [plain, ...unused] = JSON.parse(stdout) as readonly Row[];
    expect(unused.length).toBeGreaterThan(3);
    for (const { name, over } of unused) expect({ name, promises: over.promises }).toEqual({ name, promises: 0 });
    return unused.filter(({ over }) => over.bytes >= 0.03 * Number(plain?.bytes)).map(({ name }) => name);
  }
});
