import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { rollup } from "rollup";
import type { SourceMap } from "./line-maps.js";
import type { Output } from "./shrink.js";

/**
 * The CommonJS files of a folder of ES modules, in the same chunks. By Rollup, since esbuild makes no chunks of
 * CommonJS. What is loaded late is loaded by `require` there, so that a process has one copy of each class.
 */
export async function toCommonJs(folder: string): Promise<Output[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".js"));
  const bundle = await rollup({
    input: Object.fromEntries(names.map((name) => [basename(name, ".js"), join(folder, name)])),
    external: (id) => !/^(\.|\/)/.test(id),
    treeshake: { moduleSideEffects: false },
    plugins: [{ name: "with-map", load: readWithMap }],
  });
  const { output } = await bundle.generate({
    format: "cjs",
    dir: folder,
    entryFileNames: "[name].cjs",
    exports: "named",
    interop: "auto",
    dynamicImportInCjs: false,
    hoistTransitiveImports: false,
    sourcemap: true,
  });
  await bundle.close();
  return output.flatMap((file) =>
    file.type === "chunk" ? [{ name: file.fileName, code: file.code, map: file.map as SourceMap }] : [],
  );
}

async function readWithMap(path: string) {
  return { code: await readFile(path, "utf8"), map: await readFile(`${path}.map`, "utf8") };
}
