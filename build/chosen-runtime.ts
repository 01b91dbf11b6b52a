import type { Plugin } from "esbuild";
import { runtimeName } from "./gather-pure.js";

/** The package chooses its runtime where it is imported, by `#runtime` in package.json. Sources have Node's. */
export const chosenRuntime: Plugin = {
  name: "chosen-runtime",
  setup(build) {
    build.onResolve({ filter: /\/this-runtime\.js$/ }, () => ({ path: runtimeName, external: true }));
  },
};
