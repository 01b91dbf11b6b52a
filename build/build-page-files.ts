import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildResult, buildSync, type Metafile, type OutputFile } from "esbuild";
import type { PageFiles } from "../src/pages/server/page-entry.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const app = "src/pages/app";

/** Builds what browsers load of the pages: small, each file with a hash in its name, and what both pages need once. */
export function buildPageFiles(): PageFiles {
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: { account: `${app}/account.tsx`, operator: `${app}/operator.tsx`, page: `${app}/page.css` },
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name]-[hash]",
    chunkNames: "parts-[hash]",
    outdir: "assets",
    legalComments: "none",
    write: false,
    metafile: true,
    logLevel: "error",
  }) as BuildResult & { outputFiles: OutputFile[]; metafile: Metafile };
  const texts = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text.trimEnd()]));
  return {
    texts,
    style: nameOf(metafile, "page.css"),
    account: entryOf(metafile, "account.tsx"),
    operator: entryOf(metafile, "operator.tsx"),
  };
}

function entryOf(metafile: Metafile, file: string): PageFiles["account"] {
  const script = nameOf(metafile, file);
  const imports = metafile.outputs[`assets/${script}`]?.imports ?? [];
  return {
    script,
    preloads: imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path)),
  };
}

function nameOf({ outputs }: Metafile, file: string): string {
  const path = Object.keys(outputs).find((name) => outputs[name]?.entryPoint === `${app}/${file}`);
  if (path === undefined) throw new Error(`Nothing was built of ${app}/${file}.`);
  return basename(path);
}
