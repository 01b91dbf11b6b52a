/**
 * Checks the imports of `src/` against `layers.ts`, and that `docs/architecture.md` has its table.
 * `npm run layers:update` writes the table anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { layerTable } from "./architecture.js";
import { refusedImports, sourceTexts } from "./layer-imports.js";

const page = new URL("../../../docs/architecture.md", import.meta.url);
const text = readFileSync(page, "utf8");
const between = /(?<=<!-- layers -->\n)[\s\S]*(?=<!-- \/layers -->)/;
const written = text.replace(between, () => `\n${layerTable()}\n\n`);
const problems = [...sourceTexts()].flatMap(([file, source]) => refusedImports(file, source));
if (process.argv.includes("--update")) writeFileSync(page, written);
else if (written !== text) problems.push("docs/architecture.md lacks a change of layers.ts: npm run layers:update");
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
