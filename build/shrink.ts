import { transform } from "esbuild";
import { parseAst } from "rollup/parseAst";
import { type SourceMap, toLineMap } from "./line-maps.js";

/** A file of JavaScript and its source map. */
export interface Output {
  readonly name: string;
  readonly code: string;
  readonly map: SourceMap;
}

/** So long lines can be read in a stack trace. */
const longestLine = 500;

/** A small module, in its parts. Its imports take whole lines, one at least. */
export interface Shrunk {
  readonly name: string;
  readonly imports: string;
  readonly body: string;
  readonly exports: string;
  /** Of all three. */
  readonly map: SourceMap;
}

/**
 * Takes out white space and comments, and shortens the names within functions. Functions and classes of the file keep
 * theirs, so that a stack trace can be read without the map. esbuild does that for scripts only: `import` and `export`
 * stay aside.
 */
export async function shrink({ name, code, map }: Output): Promise<Shrunk> {
  const { imports, script, exports } = takeApart(code);
  const comment = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString("base64")}`;
  const { code: body, map: bodyMap } = await transform(strict + script + comment, {
    minify: true,
    target: "node20",
    lineLimit: longestLine,
    legalComments: "none",
    sourcemap: "external",
    sourcesContent: false,
    sourcefile: name,
  });
  if (!body.startsWith(strict)) throw new Error(`${name} is not strict.`);
  const lines = toLineMap(JSON.parse(bodyMap));
  const mappings = ";".repeat(imports.split("\n").length - 1) + lines.mappings;
  return { name, imports, body: body.slice(strict.length), exports, map: { ...lines, mappings } };
}

/** As every module is. */
export const strict = '"use strict";';

/** What the types of Rollup's parser leave out. */
interface Statement {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Spaces stand in the script for what is taken out, so that the map stays right. */
function takeApart(code: string): { imports: string; script: string; exports: string } {
  const parts = { imports: "", script: code.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n"), exports: "" };
  for (const { type, start, end } of parseAst(code).body as unknown as Statement[]) {
    const text = code.slice(start, end);
    if (!/^(Import|Export)/.test(type)) continue;
    if (type === "ImportDeclaration") parts.imports += tight(text);
    else if (/^export\s*\{[^}]*\};?$/.test(text)) parts.exports += tight(text);
    else throw new Error(`esbuild exports names only, not: ${text.slice(0, 80)}`);
    parts.script = parts.script.slice(0, start) + text.replace(/[^\n]/g, " ") + parts.script.slice(end);
  }
  return { ...parts, imports: parts.imports || "\n" };
}

function tight(list: string): string {
  return `${list.replace(/\s+/g, " ").replace(/ ?([{},]) ?/g, "$1")}\n`;
}
