import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve as absolute, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * What the linter refuses in files that stand alone in a project with this one's configuration, as `file:line`.
 * @param rule - the only rule to check, such as `style/noRestrictedImports`.
 */
export async function lintFiles(files: Readonly<Record<string, string>>, rule: string): Promise<Set<string>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "infergate-lint-")));
  try {
    await copyFile(join(root, "biome.json"), join(folder, "biome.json"));
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    return await lint(folder, rule);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function lint(folder: string, rule: string): Promise<Set<string>> {
  const args = ["lint", `--only=${rule}`, "--reporter=github", "--max-diagnostics=none", "--vcs-enabled=false", "."];
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [biome, ...args], { cwd: folder, maxBuffer: 2 ** 24 }, (_error, out, errors) => {
      const refusals = [...out.matchAll(new RegExp(`title=lint/${rule},file=(.*?),line=(\\d+),`, "g"))];
      if (refusals.length === 0) reject(new Error(`Nothing was refused.\n${out}${errors}`));
      resolve(new Set(refusals.map(([, file = "", line]) => `${relative(folder, absolute(folder, file))}:${line}`)));
    });
  });
}
