import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { type BuildResult, buildSync, type Metafile, type OutputFile } from "esbuild";
import type { PageFiles } from "../src/pages/server/page-entry.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const app = "src/pages/app";

/**
 * Builds what browsers load of the pages: small, and each file with a hash in its name. Each page is built by itself, since what
 * the two share would else come in many small files, and nobody is on both.
 */
export function buildPageFiles(): PageFiles {
  const style = build({ page: `${app}/page.css` });
  const account = build({ account: `${app}/account.tsx` });
  const operator = build({ operator: `${app}/operator.tsx` });
  return {
    files: { ...style.files, ...account.files, ...operator.files },
    style: nameOf(style.metafile, "page.css"),
    account: entryOf(account.metafile, "account.tsx"),
    operator: entryOf(operator.metafile, "operator.tsx"),
  };
}

interface Built {
  readonly files: Readonly<Record<string, string>>;
  readonly metafile: Metafile;
}

function build(entryPoints: Readonly<Record<string, string>>): Built {
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: root,
    entryPoints,
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
  const files = outputFiles.map(({ path, text }) => [basename(path), compressed(text.trimEnd())]);
  return { files: Object.fromEntries(files), metafile };
}

function compressed(text: string): string {
  return gzipSync(text, { level: 9 }).toString("base64");
}

function entryOf(metafile: Metafile, file: string): PageFiles["account"] {
  const { outputs } = metafile;
  const script = nameOf(metafile, file);
  const preloads = importedBy(outputs, [script], "import-statement").slice(1);
  const later = importedBy(outputs, importedBy(outputs, [script, ...preloads], "dynamic-import"), "import-statement");
  return { script, preloads, later: later.filter((name) => name !== script && !preloads.includes(name)) };
}

/** These files and what they import so, which imports further ones. */
function importedBy(outputs: Metafile["outputs"], files: readonly string[], kind: string): string[] {
  const names = new Set(files);
  for (const name of names) {
    for (const imported of outputs[`assets/${name}`]?.imports ?? []) {
      if (imported.kind === kind) names.add(basename(imported.path));
    }
  }
  return [...names];
}

function nameOf({ outputs }: Metafile, file: string): string {
  const path = Object.keys(outputs).find((name) => outputs[name]?.entryPoint === `${app}/${file}`);
  if (path === undefined) throw new Error(`Nothing was built of ${app}/${file}.`);
  return basename(path);
}
