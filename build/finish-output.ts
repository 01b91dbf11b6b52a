import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asCommonJs } from "./as-commonjs.js";
import { type Output, type Shrunk, shrink } from "./shrink.js";

/**
 * Makes what is published of the ES modules in a folder: the same as CommonJS, both small, with one map that leads to lines.
 * The declarations of CommonJS are those of the ES modules, too.
 */
export async function finishOutput(folder: string, entries: readonly string[]): Promise<void> {
  const outputs = await readOutputs(folder);
  await Promise.all(outputs.map(async (output) => writeModule(folder, await shrink(output))));
  await Promise.all(entries.map((name) => writeFile(join(folder, `${name}.d.ts`), `export * from "./${name}.cjs";\n`)));
  // Its licence asks that it goes wherever its code does.
  await copyFile("node_modules/zod/LICENSE", join(folder, "zod.LICENSE"));
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

async function writeModule(folder: string, module: Shrunk): Promise<void> {
  const { name, imports, body, exports, map } = module;
  const comment = `//# sourceMappingURL=${name}.map\n`;
  await Promise.all([
    writeFile(join(folder, name), imports + body + exports + comment),
    writeFile(join(folder, name.replace(/\.js$/, ".cjs")), asCommonJs(module) + comment),
    writeFile(join(folder, `${name}.map`), JSON.stringify(map)),
  ]);
}
