import { lateImports } from "./late-imports.js";
import { type Shrunk, strict } from "./shrink.js";

/**
 * The module as CommonJS: in the same lines, so that one map is for both. What is loaded late is loaded by `require`, so that a
 * process has one copy of each class; in the line where that stands, the map leads to the lines around.
 */
export function asCommonJs({ imports, body, exports }: Shrunk): string {
  const required = imports.split("\n").filter(Boolean).map(toRequire).join("");
  const lines = imports.replace(/[^\n]/g, "");
  const exported = exports.split("\n").filter(Boolean).map(toAssignments).join("");
  return `${commonJsHead}${required}${lines}${requireLate(body)}${exported}\n`;
}

/** The mark by which bundlers know names that stood in an ES module. */
export const commonJsHead = `${strict}Object.defineProperty(exports,"__esModule",{value:true});`;

function toRequire(line: string): string {
  const [, names = "", module = ""] = /^import\s*(?:(.*?)\s*from)?\s*"([^"]+)";?$/.exec(line) ?? [];
  const required = `require(${JSON.stringify(toFile(module))})`;
  if (module !== "" && names === "") return `${required};`;
  // Of CommonJS, the default is the module, unless it was made of an ES module.
  if (/^\w+$/.test(names)) return `const ${names}=(module=>module.__esModule?module.default:module)(${required});`;
  if (/^\{.*\}$/.test(names)) return `const${names.replaceAll(" as ", ":")}=${required};`;
  throw new Error(`Neither names nor a default are imported: ${line.slice(0, 80)}`);
}

function toAssignments(line: string): string {
  const names = /^export\s*\{(.*)\};?$/.exec(line)?.[1]?.split(",") ?? [];
  return names
    .map((name) => name.trim().split(" as "))
    .map(([own = "", other = own]) => `exports.${other}=${own};`)
    .join("");
}

function requireLate(body: string): string {
  let text = body;
  for (const { start, end } of lateImports(body).sort((one, other) => other.start - one.start)) {
    const module = /^import\("([^"]+)"\)$/.exec(body.slice(start, end))?.[1];
    if (module === undefined) throw new Error(`No text is imported: ${body.slice(start, start + 80)}`);
    const required = `Promise.resolve().then(()=>require(${JSON.stringify(toFile(module))}))`;
    text = text.slice(0, start) + required + text.slice(end);
  }
  return text;
}

function toFile(module: string): string {
  return module.startsWith(".") ? commonJsFile(module) : module;
}

/** Where the same stands as CommonJS. */
export function commonJsFile(name: string): string {
  return name.replace(/\.js$/, ".cjs");
}
