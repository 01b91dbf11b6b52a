import { defineConfig } from "tsup";
import { builtinsAtRunTime } from "./build/builtins-at-run-time.js";
import { chosenRuntime } from "./build/chosen-runtime.js";
import { finishOutput } from "./build/finish-output.js";
import { gatherPure } from "./build/gather-pure.js";
import { inlinePageFiles } from "./build/inline-page-files.js";

const entries = [
  "index",
  "express",
  "fastify",
  "fetch",
  "node",
  "pages",
  "sqlite",
  "redis",
  "postgres",
  "mysql",
  "ai-sdk",
  "otel",
  "prometheus",
  "logs",
  "testing",
  "tokenizer",
];
/** What `#runtime` and `#transport` in package.json choose from: no public entries, so no declarations. */
const choices = ["runtime.node", "runtime.web", "transport.undici", "transport.fetch"];

const files = (names: string[]) => Object.fromEntries(names.map((name) => [name, `src/${name}.ts`]));

export default defineConfig([
  {
    entry: files([...entries, ...choices]),
    format: "esm",
    target: "node20",
    platform: "node",
    external: ["#transport"],
    // Deno and workerd know Node's modules by their full names only.
    removeNodeProtocol: false,
    // Shared chunks, so that every entry has the same classes.
    splitting: true,
    esbuildPlugins: [chosenRuntime, inlinePageFiles, builtinsAtRunTime, gatherPure],
    sourcemap: true,
    clean: ["**/*", "!**/*.d.{ts,cts}"],
    onSuccess: () => finishOutput("dist", entries),
  },
  // For both: what is declared for `import` says that it is the same.
  {
    entry: files(entries),
    format: "cjs",
    dts: { only: true, compilerOptions: { ignoreDeprecations: "6.0" } },
  },
]);
