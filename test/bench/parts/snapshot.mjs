import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const project = new URL("../../../", import.meta.url);

/**
 * Copies the build, so that all processes of a run have the same one, even if the project is built anew meanwhile. It is
 * no dependency of this folder, for that would bring all of the project's into the lock file.
 * @returns where it is: a folder like the package's own, gone when this process ends.
 */
export function snapshotBuild() {
  const build = new URL("dist/", project);
  if (!existsSync(new URL("index.js", build))) throw new Error("There is no build: run `npm run build` first.");
  const folder = new URL(`../snapshot-${process.pid}/`, import.meta.url);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder);
  cpSync(build, new URL("dist/", folder), { recursive: true });
  cpSync(new URL("package.json", project), new URL("package.json", folder));
  symlinkSync(
    fileURLToPath(new URL("node_modules", project)),
    fileURLToPath(new URL("node_modules", folder)),
    "junction",
  );
  return folder.href;
}
