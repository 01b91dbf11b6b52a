import { commonJsFile, commonJsHead } from "./as-commonjs.js";
import { runtimeName } from "./gather-pure.js";
import { lateImports } from "./late-imports.js";
import type { Shrunk } from "./shrink.js";

/** Shared files, and runtimes, that load nothing but each other and the runtime: in them, a bundler finds no `require` of another package. */
export function pureFiles(modules: readonly Shrunk[]): ReadonlySet<string> {
  const shared = modules.filter(({ name, body }) => /^(chunk-|runtime\.)/.test(name) && lateImports(body).length === 0);
  const pure = new Set(shared.map(({ name }) => `./${name}`));
  for (let known = -1; known !== pure.size; ) {
    known = pure.size;
    for (const { name, imports } of shared) {
      if (!linesOf(imports).every(({ path }) => path === runtimeName || pure.has(path))) pure.delete(`./${name}`);
    }
  }
  return pure;
}

/** What an ES module imports, and the file that hands to it what is pure. */
interface Imports {
  /** In as many lines as before. */
  readonly imports: string;
  readonly handedOver: { readonly name: string; readonly code: string } | undefined;
}

/**
 * The imports of an ES module, where all that is pure comes from one short file of CommonJS. Node reads a file of CommonJS
 * that is imported twice, the first time in search of names. For a long file, that takes longer than all else.
 */
export function importPure({ name, imports }: Shrunk, pure: ReadonlySet<string>): Imports {
  const lines = linesOf(imports).filter(({ path, names }) => pure.has(path) && names.length > 0);
  const others = imports.split("\n").map((line) => (pure.has(pathOf(line)) ? "" : line));
  if (lines.length === 0) return { imports: others.join("\n"), handedOver: undefined };
  const file = name.replace(/\.js$/, ".pure.cjs");
  const parts = lines.map(({ path, names }, index) => {
    const module = `pure${index}`;
    const handed = names.map(([other, own]) => `exports.${own}=${module}.${other};`);
    return `const ${module}=require("${commonJsFile(path)}");${handed.join("")}`;
  });
  const names = lines.flatMap((line) => line.names.map(([, own]) => own));
  const handedOver = { name: file, code: `${commonJsHead}${parts.join("")}\n` };
  return { imports: `import{${names.join(",")}}from"./${file}";${others.join("\n")}`, handedOver };
}

interface Line {
  readonly path: string;
  /** Each name as the other file has it, and as this one does. */
  readonly names: readonly (readonly [other: string, own: string])[];
}

function linesOf(imports: string): Line[] {
  const lines = imports.split("\n").filter(Boolean);
  return lines.map((line) => {
    const list = /\{(.+)\}/.exec(line)?.[1]?.split(",") ?? [];
    const names = list.map((name): [string, string] => {
      const [other = "", own = other] = name.trim().split(" as ");
      return [other, own];
    });
    return { path: pathOf(line), names };
  });
}

function pathOf(line: string): string {
  return /"([^"]+)"/.exec(line)?.[1] ?? "";
}
