import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Output, shrink } from "./shrink.js";
import { toCommonJs } from "./to-commonjs.js";

/**
 * Makes what is published of the ES modules in a folder: the same as CommonJS, both small, with maps that lead to lines.
 * The declarations of CommonJS are those of the ES modules, too.
 */
export async function finishOutput(folder: string, entries: readonly string[]): Promise<void> {
  const outputs = [...(await readOutputs(folder)), ...(await toCommonJs(folder))];
  await Promise.all(outputs.map(async (output) => writeOutput(folder, await shrink(output))));
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

async function writeOutput(folder: string, { name, code, map }: Output): Promise<void> {
  await writeFile(join(folder, name), `${code}//# sourceMappingURL=${name}.map\n`);
  await writeFile(join(folder, `${name}.map`), JSON.stringify(map));
}
