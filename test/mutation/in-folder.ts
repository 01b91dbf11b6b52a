import { existsSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The tests' files are named without their folder and ending; what follows an option is left as it is.
 * @throws Error for a file that is not there: no test would fail, and that would count as found.
 */
export function inFolder(folder: string, args: readonly string[]): string[] {
  const options = args.findIndex((arg) => arg.startsWith("-"));
  const names = args.slice(0, options === -1 ? args.length : options).map((name) => posix.join("test", folder, name));
  const isThere = (name: string, ending: string) => existsSync(posix.join(root, `${name}${ending}`));
  const rest = args.slice(names.length);
  const ending = names.some((name) => isThere(name, ".heavy.test.ts")) ? ".heavy.test.ts" : ".test.ts";
  const missing = names.find((name) => !isThere(name, ending));
  if (missing !== undefined)
    throw new Error(`There is no ${missing}${ending}: files of one run are all heavy, or none is.`);
  return [...names.map((name) => `${name}${ending}`), ...(ending === ".test.ts" ? [] : ["--mode", "heavy"]), ...rest];
}
