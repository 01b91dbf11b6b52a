import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/**
 * Takes `Buffer` from the globals, where a module imports nothing else of `node:buffer`: Node, Bun, Deno and workerd with
 * `nodejs_compat` have it there. So the module loads nothing, and can be published once.
 */
export const globalBuffer: Plugin = {
  name: "global-buffer",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].+\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      return importOfBuffer.test(code) ? { contents: code.replace(importOfBuffer, ""), loader: "ts" } : undefined;
    });
  },
};

/** Its line stays, so that source maps are right. */
const importOfBuffer = /^import \{ Buffer \} from "node:buffer";$/m;
