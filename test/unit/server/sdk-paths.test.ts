import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { matchPath } from "../../../src/server/paths.js";
import { whyUnserved } from "../../../src/server/unserved-path.js";

/** The paths that an SDK calls, as they stand in its code, with a name for whatever is put into them. */
function pathsOf(folder: string, pattern: RegExp, prefix: string): string[] {
  const found = new Set<string>();
  const root = `node_modules/${folder}/resources`;
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".js")) continue;
    for (const [, path = ""] of readFileSync(join(root, file), "utf8").matchAll(pattern)) {
      found.add(prefix + path.replace(/\?.*$/, "").replace(/\$\{[^}]*\}/g, "x"));
    }
  }
  return [...found].sort();
}

it.each([
  ["openai", pathsOf("openai", /(?:path\)?`|_client\.\w+\(')(\/[^`']+)[`']/g, "/v1")],
  ["@anthropic-ai/sdk", pathsOf("@anthropic-ai/sdk", /[`'](\/v1\/[^`']+)[`']/g, "")],
])("each path that %s calls is served, or it is said why not", (_name, paths) => {
  expect(paths.length).toBeGreaterThan(50);
  const unknown = paths.filter((path) => matchPath(path) === undefined && whyUnserved(path) === undefined);
  expect(unknown).toEqual([]);
});
