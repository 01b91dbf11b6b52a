import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** What a process loaded, without Node's own modules. */
export interface LoadedScripts {
  /** Where the files lie. */
  readonly paths: readonly string[];
  /** Of all files together. */
  readonly bytes: number;
}

/** Runs Node in a folder, and says which files of JavaScript it has compiled by the end. */
export async function loadedScripts(folder: string, ...args: string[]): Promise<LoadedScripts> {
  const reports = await mkdtemp(join(tmpdir(), "infergate-coverage-"));
  try {
    await promisify(execFile)(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, NODE_V8_COVERAGE: reports },
    });
    const texts = await Promise.all((await readdir(reports)).map((name) => readFile(join(reports, name), "utf8")));
    const scripts: { url: string }[] = texts.flatMap((text) => JSON.parse(text).result);
    const urls = scripts.map(({ url }) => url).filter((url) => url.startsWith("file:") && !url.endsWith("[eval1]"));
    const paths = [...new Set(urls)].map((url) => fileURLToPath(url));
    const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
    return { paths, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}
