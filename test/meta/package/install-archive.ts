import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

/** Installs the archive with npm; where no registry answers, unpacks it beside the dependencies of this project. */
export async function installArchive(archive: string, project: string): Promise<void> {
  const modules = join(project, "node_modules");
  try {
    const options = [
      "--prefer-offline",
      "--no-audit",
      "--no-fund",
      "--fetch-retries=0",
      "--fetch-timeout=20000",
      "--engine-strict",
    ];
    await run("npm", ["install", ...options, archive], { cwd: project, timeout: 60_000 });
  } catch (error) {
    if (!/E(NOTFOUND|CONN|TIMEDOUT|AI_AGAIN|NOTCACHED)|SOCKET_TIMEOUT/.test(String(error))) throw error;
    await mkdir(join(modules, "infergate"), { recursive: true });
    await run("tar", ["-xzf", archive, "--strip-components=1", "-C", join(modules, "infergate")]);
    const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies)) {
      await cp(join(root, "node_modules", name), join(modules, name), { recursive: true });
    }
  }
  await mkdir(join(modules, "@types"), { recursive: true });
  await symlink(join(root, "node_modules/@types/node"), join(modules, "@types/node"));
}
