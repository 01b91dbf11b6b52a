import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asCommonJs, commonJsFile } from "./as-commonjs.js";
import { pureEntry } from "./gather-pure.js";
import { importPure, pureFiles } from "./import-pure.js";
import { type Output, type Shrunk, shrink } from "./shrink.js";

/**
 * Makes what is published of the ES modules in a folder: the same as CommonJS, both small, with one map that leads to lines.
 * What is pure is published as CommonJS only. The declarations of CommonJS are those of the ES modules, too.
 */
export async function finishOutput(folder: string, entries: readonly string[]): Promise<void> {
  const outputs = await readOutputs(folder);
  await Promise.all(outputs.flatMap(({ name }) => [name, `${name}.map`]).map((name) => rm(join(folder, name))));
  const modules = await Promise.all(outputs.filter(({ name }) => name !== `${pureEntry}.js`).map(shrink));
  const pure = pureFiles(modules);
  await Promise.all(modules.map((module) => writeModule(folder, module, pure)));
  await Promise.all(entries.map((name) => writeFile(join(folder, `${name}.d.ts`), `export * from "./${name}.cjs";\n`)));
  // Their licences ask that they go wherever their code does.
  for (const name of ["zod", "preact", "@noble/hashes"]) {
    await copyFile(
      `node_modules/${name}/LICENSE`,
      join(folder, `${name.replace(/\W+/g, "-").replace(/^-/, "")}.LICENSE`),
    );
  }
}

async function readOutputs(folder: string): Promise<Output[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".js"));
  return Promise.all(
    names.map(async (name) => ({
      name,
      code: await readFile(join(folder, name), "utf8"),
      map: JSON.parse(await readFile(join(folder, `${name}.map`), "utf8")),
    })),
  );
}

async function writeModule(folder: string, module: Shrunk, pure: ReadonlySet<string>): Promise<void> {
  const { name, body, exports, map } = module;
  const files = new Map<string, string>();
  const comment = `//# sourceMappingURL=${name}.map\n`;
  files.set(commonJsFile(name), asCommonJs(module) + comment);
  files.set(`${name}.map`, JSON.stringify(map));
  if (!pure.has(`./${name}`)) {
    const { imports, handedOver } = importPure(module, pure);
    files.set(name, imports + body + exports + comment);
    if (handedOver !== undefined) files.set(handedOver.name, handedOver.code);
  }
  await Promise.all([...files].map(([file, text]) => writeFile(join(folder, file), text)));
}
