import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * Modules that load nothing are published once. So those that need Node's modules get them at run time, where that works
 * everywhere: `Buffer` from the globals, which Node, Bun, Deno and workerd with `nodejs_compat` have; and all others by
 * `process.getBuiltinModule`, in `src/testing`, which only runners of tests load, and in what stands for Node's runtime.
 */
export const builtinsAtRunTime: Plugin = {
  name: "builtins-at-run-time",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].+\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      const withGlobal = code.replace(importOfBuffer, "");
      const contents = /[\\/]src[\\/](testing[\\/]|runtime[\\/]node-runtime\.ts$)/.test(path)
        ? withGlobal.replace(importOfBuiltin, toCall)
        : withGlobal;
      return contents === code ? undefined : { contents, loader: "ts" };
    });
  },
};

/** Its line stays, so that source maps are right. */
const importOfBuffer = /^import \{ Buffer \} from "node:buffer";$/m;
const importOfBuiltin = /^import (\w+|\{[^{}]+\}) from ("node:[\w/]+");$/gm;

function toCall(_line: string, names: string, module: string): string {
  const values = names.replace(/\btype \w+,? ?/g, "").replaceAll(" as ", ": ");
  return `const ${values} = globalThis.process.getBuiltinModule(${module});`;
}
