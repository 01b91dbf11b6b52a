import type { Plugin } from "esbuild";
import { buildPageFiles } from "./build-page-files.js";

/** Puts what browsers load of the pages in place of the module that builds it: the package has neither their sources nor esbuild. */
export const inlinePageFiles: Plugin = {
  name: "inline-page-files",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]pages[\\/]server[\\/]page-files\.ts$/ }, () => ({
      contents: `export const pageFiles = ${JSON.stringify(buildPageFiles())};`,
      loader: "js",
    }));
  },
};
