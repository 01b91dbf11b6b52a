import { existsSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const shelves = ["unit", "contract", "http", "meta"];

/**
 * The tests' files are named without their shelf, folder and ending; what follows an option is left as it is.
 * @throws Error for a file that is not there: no test would fail, and that would count as found.
 */
export function inFolder(folder: string, args: readonly string[]): string[] {
  const options = args.findIndex((arg) => arg.startsWith("-"));
  const names = args.slice(0, options === -1 ? args.length : options);
  return [...names.map((name) => fileOf(posix.join(folder, name))), "--mode", "all", ...args.slice(names.length)];
}

function fileOf(name: string): string {
  const files = shelves.flatMap((shelf) =>
    [".test.ts", ".heavy.test.ts"].map((ending) => `test/${shelf}/${name}${ending}`),
  );
  const found = files.find((file) => existsSync(posix.join(root, file)));
  if (found === undefined) throw new Error(`There is no test ${name} on any shelf.`);
  return found;
}
