import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The stores of a commit, as one file of JavaScript: it needs the packages of this repository. */
export async function bundleCommit(commit: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "infergate-history-"));
  try {
    const archive = execFileSync("git", ["archive", commit, "src", "tsconfig.json"], { cwd: root, maxBuffer: 2 ** 28 });
    execFileSync("tar", ["x", "-C", folder], { input: archive });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const entry = join(folder, "entry.ts");
    writeFileSync(
      entry,
      ["postgres", "sqlite", "redis"].map((name) => `export { ${name}Stores } from "./src/${name}.ts";\n`).join(""),
    );
    const { outputFiles } = await build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      minify: true,
      platform: "node",
      target: "node20",
      format: "esm",
      packages: "external",
      logLevel: "error",
    });
    return outputFiles[0]?.text ?? "";
  } finally {
    rmSync(folder, { recursive: true });
  }
}
