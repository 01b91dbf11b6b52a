import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** This project in a temporary folder, with another undici. */
export interface ProjectCopy {
  readonly folder: string;
  /** Of undici. */
  readonly version: string;
  remove(): void;
}

/**
 * A copy in which there is nothing but undici yet.
 *
 * @param wanted - a version or range; for a range, the newest that this Node is allowed to have.
 * @throws Error when npm cannot install it.
 */
export function startCopy(wanted: string): ProjectCopy {
  const folder = mkdtempSync(join(tmpdir(), "infergate-undici-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    install(wanted, folder);
    return { folder, version: undiciVersion(folder), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** All the rest is that of this project: the sources are copied, the packages are linked. */
export function completeCopy({ folder }: ProjectCopy): void {
  linkPackages(join(root, "node_modules"), join(folder, "node_modules"));
  for (const name of ["src", "test", "package.json", "tsconfig.json"]) {
    const filter = (path: string) => !path.endsWith("node_modules");
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
}

/** Of the undici in this project. */
export function pinnedVersion(): string {
  return undiciVersion(root);
}

function install(wanted: string, folder: string): void {
  const quick = ["--fetch-retries=1", "--fetch-timeout=30000", "--loglevel=error"];
  const alone = ["--engine-strict", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock"];
  const args = ["install", "--prefix", folder, ...quick, ...alone, `undici@${wanted}`];
  execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 180_000 });
}

/** All that are not there already. */
function linkPackages(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (!name.startsWith(".") && !existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name));
  }
}

function undiciVersion(folder: string): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(folder, "node_modules/undici/package.json"), "utf8"),
  );
  return manifest.version;
}
