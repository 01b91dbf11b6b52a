import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { fileRules, layers } from "./layers.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** All files of `src/`, by path, as in `src/wire/json.ts`. */
export function sourceTexts(): ReadonlyMap<string, string> {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const paths = files.filter((file) => /\.tsx?$/.test(file)).map((file) => join("src", file));
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** What a file imports, dynamically and types included: paths, as in `src/wire/json.js`, and names of packages. */
export function importsOf(file: string, text: string): string[] {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return importedFiles.map(({ fileName }) => (fileName.startsWith(".") ? join(file, "..", fileName) : fileName));
}

/** What a file imports against the layers: a sentence for each import. */
export function refusedImports(file: string, text: string): string[] {
  const { imports, packages, reason } = rulesFor(file);
  return importsOf(file, text)
    .filter((name) => !imports.some((place) => isWithin(place, name)) && !packages.some((each) => fits(each, name)))
    .map((name) => {
      const allowed = [...imports.map((place) => `src/${place}`), ...packages].join(", ");
      return `${file} imports ${name}. ${reason} The table of test/meta/package/layers.ts allows: ${allowed || "nothing"}.`;
    });
}

/** @param place - a folder of `src/` or a file of one, as a layer names it. */
export function isWithin(place: string, name: string): boolean {
  return place.endsWith(".js") ? fits(`src/${place}`, name) : name.startsWith(`src/${place}/`);
}

/** @param pattern - `*` stands for any part of a name between slashes. */
export function fits(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(".", "\\."));
  return new RegExp(`^${parts.join("[^/]*")}$`).test(name);
}

function rulesFor(file: string): { imports: readonly string[]; packages: readonly string[]; reason: string } {
  const rule = fileRules.findLast(({ files }) => files.some((pattern) => fits(`src/${pattern}`, file)));
  if (rule !== undefined) return { packages: [], ...rule };
  const layer = layers.find(({ folder }) => file.startsWith(`src/${folder}/`));
  if (layer === undefined) return { imports: [], packages: [], reason: "Its folder has no row." };
  const { folder, question, imports, packages = [] } = layer;
  return { imports: [folder, ...imports], packages, reason: `${folder}/ answers: ${question}` };
}
